import { expect, test } from 'vitest';
import {
  findCommandToUndo,
  listLastCommands,
  undoCommand,
} from '../../../src/outbox/changes/undo-command.ts';
import { makeImportSlot } from '../../../src/outbox/intents.ts';
import { findByUuid, iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { withdrawWish } from '../../../src/outbox/wishes.ts';
import { queueImport, type TempOutbox, tempOutbox } from '../../support/temp-outbox.ts';

const interrupt = (): never => {
  throw new Error('interrupted');
};

/** As the process of a command does it, which ends with it. */
function run(outbox: TempOutbox, words: string, work: () => void): void {
  outbox.command.id = undefined;
  outbox.command.words = words;
  work();
}

/**
 * Removes finds, adds another one with the local id of the first, and interrupts the undo of the
 * removal. @returns id of the removal
 */
function interruptUndoOfRemoval(outbox: TempOutbox, findIds: readonly string[]) {
  run(outbox, 'remove', () => {
    for (const findId of findIds) withdrawWish(outbox, makeImportSlot(findId), 'removed');
  });
  run(outbox, 'add', () => queueImport(outbox, 'K-0', 'C-202400101', 'another'));
  const id = listLastCommands(outbox).find(({ words }) => words === 'remove')?.id;
  expect(() => run(outbox, 'undo', () => undoCommand(outbox, id, interrupt))).toThrow();
  return id;
}

test('a find that an interrupted undo brought back is a question where its local id is taken', () => {
  using outbox = tempOutbox();
  const ids = Array.from({ length: 150 }, (_, nth) => queueImport(outbox, `K-${nth}`).findId);
  const id = interruptUndoOfRemoval(outbox, ids);
  run(outbox, 'undo', () => undoCommand(outbox, id));
  expect(findByUuid(outbox, ids[0] ?? '')?.wish.namesake).toBe('K-0');
});

test('a find that an undo brought back is a question once the undo has taken all back', () => {
  using outbox = tempOutbox();
  const { findId } = queueImport(outbox, 'K-0');
  interruptUndoOfRemoval(outbox, [findId]);
  expect(findByUuid(outbox, findId)?.wish.namesake).toBe('K-0');
});

test('an undo that is interrupted is continued by the next, before an earlier command', () => {
  using outbox = tempOutbox();
  run(outbox, 'add', () => queueImport(outbox, 'K-0'));
  run(outbox, 'import', () => {
    for (let nth = 1; nth <= 250; nth++) queueImport(outbox, `K-${nth}`);
  });
  const listShown = (): string[] =>
    [...iterateFinds(outbox)].filter(({ isHidden }) => !isHidden).map(({ localId }) => localId);
  expect(() => run(outbox, 'undo', () => undoCommand(outbox, undefined, interrupt))).toThrow();
  expect(listShown()).toHaveLength(151);
  expect(findCommandToUndo(outbox)?.words).toBe('import');
  run(outbox, 'undo', () => expect(undoCommand(outbox)?.finds).toBe(150));
  expect(listShown()).toEqual(['K-0']);
  run(outbox, 'undo', () => undoCommand(outbox));
  expect(listShown()).toEqual([]);
  expect(findCommandToUndo(outbox)).toBeUndefined();
});
