import { expect, test } from 'vitest';
import { makeHome } from '../support/run-pas.ts';

test('the demo ends with its counts, which the server confirms', async () => {
  const { stdout } = await makeHome().do('demo');
  const match =
    /^(\d+) finds: (\d+) accepted with (\d+) photographs, (\d+) read back unchanged\.$/m.exec(
      stdout,
    );
  const [finds, accepted, photographs, same] = match?.slice(1).map(Number) ?? [];
  expect([accepted, same]).toEqual([finds, finds]);
  expect(finds).toBeGreaterThan(5);
  expect(stdout).toContain(
    `The server has ${finds} finds and ${photographs} photographs more than before.`,
  );
  expect(stdout).toContain('All figures agree with the server.');
});
