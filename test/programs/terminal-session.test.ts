import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeHome } from '../support/run-pas.ts';
import { startProgram, type TerminalSession, whyNoTerminal } from '../support/terminal-session.ts';

beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

const home = makeHome();
const shell = (script: string): Promise<TerminalSession> =>
  startProgram(['sh', '-c', script], home);

test('the last expected text is waited for, however late it is written', async () => {
  const pipe = join(home.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await using terminal = await shell(`echo first; cat '${pipe}'`);
  const whole = terminal.expect('first', 'last');
  await terminal.expect('first');
  writeFileSync(pipe, 'last\n');
  await whole;
  expect(await terminal.ended()).toEqual({ code: 0, screen: 'first\nlast' });
});

test('the whole output and the exit code are available when the program has ended', async () => {
  await using terminal = await shell('seq 1 3000; exit 7');
  const { code, screen } = await terminal.ended();
  expect([code, screen.split('\n').at(0), screen.split('\n').at(-1)]).toEqual([
    7,
    expect.any(String),
    '3000',
  ]);
  await terminal.expect('2998', /^2999$/m, '3000');
});

test('text in another order, or missing text, fails with the screen once the program has ended', async () => {
  await using terminal = await shell('echo iron; echo bronze');
  await terminal.ended();
  await expect(terminal.expect('bronze', 'iron')).rejects.toThrow(
    /iron is not on the screen, behind .*:\niron\nbronze/,
  );
  await expect(terminal.expect('silver')).rejects.toThrow('silver is not on the screen:');
});

test('no key is pressed before its question, and none twice', async () => {
  await using terminal = await shell('printf "Depth? "; read depth; echo "depth $depth"');
  await expect(terminal.press('Enter')).rejects.toThrow(
    'Nothing was expected that asks for Enter.',
  );
  await terminal.expect('Depth?');
  await terminal.type('35');
  await expect(terminal.press('Enter')).rejects.toThrow('Nothing was expected');
  await terminal.expect('35');
  await terminal.press('Enter');
  expect((await terminal.ended()).screen).toContain('depth 35');
});

test('a killed program ends with the signal’s number', async () => {
  await using terminal = await shell('echo begun; exec sleep 600');
  await terminal.expect('begun');
  await terminal.kill();
  expect((await terminal.ended()).code).toBe(128 + 9);
});
