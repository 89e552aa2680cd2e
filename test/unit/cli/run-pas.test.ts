import { expect, test } from 'vitest';
import { runPas } from '../../../src/cli/context/context.ts';

test('a command that ends otherwise than pas does is a bug, with what it said', async () => {
  const environment = { ...process.env, NODE_OPTIONS: '--no-such-option' };
  await expect(
    runPas(['list'], { environment, cwd: process.cwd(), isOnTerminal: false }),
  ).rejects.toThrow(/pas list ended with 9: .*--no-such-option/s);
});
