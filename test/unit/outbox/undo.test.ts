import { expect, test } from 'vitest';
import { findCommandToUndo, undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import { iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { queueImport, type TempOutbox, tempOutbox } from '../../support/temp-outbox.ts';

/** As the process of a command does it, which ends with it. */
function run(outbox: TempOutbox, words: string, work: () => void): void {
  outbox.command.id = undefined;
  outbox.command.words = words;
  work();
}

test('an undo that is interrupted is continued by the next, before an earlier command', () => {
  using outbox = tempOutbox();
  run(outbox, 'add', () => queueImport(outbox, 'K-0'));
  run(outbox, 'import', () => {
    for (let nth = 1; nth <= 250; nth++) queueImport(outbox, `K-${nth}`);
  });
  const listShown = (): string[] =>
    [...iterateFinds(outbox)].filter(({ isHidden }) => !isHidden).map(({ localId }) => localId);
  const interrupt = (): never => {
    throw new Error('interrupted');
  };
  expect(() => run(outbox, 'undo', () => undoCommand(outbox, undefined, interrupt))).toThrow();
  expect(listShown()).toHaveLength(151);
  expect(findCommandToUndo(outbox)?.words).toBe('import');
  run(outbox, 'undo', () => expect(undoCommand(outbox)?.finds).toBe(150));
  expect(listShown()).toEqual(['K-0']);
  run(outbox, 'undo', () => undoCommand(outbox));
  expect(listShown()).toEqual([]);
  expect(findCommandToUndo(outbox)).toBeUndefined();
});
