import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { runCommandLine } from '../../../src/cli/main.ts';
import { outboxFolder } from '../../support/outbox-files.ts';
import { homeWithoutNetwork } from '../../support/run-pas.ts';
import { tinyPng } from '../../support/season.ts';

test('an error during work with a bar of progress is printed in a line without the bar', async () => {
  const home = await homeWithoutNetwork();
  await home.do('add', '--draft', '--set', 'local_id=K-1');
  writeFileSync(join(outboxFolder(home, 'field'), 'photos'), 'a file where the folder would be');
  let written = '';
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
  stderr.on('data', (text) => {
    written += text;
  });
  let atMs = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => {
    atMs += 1000;
    return atMs;
  });
  const code = await runCommandLine(['photo', 'add', 'K-1', home.file('K-1.png', tinyPng(1))], {
    environment: home.env,
    cwd: home.folder,
    streams: { stdin: new PassThrough(), stdout: new PassThrough().resume(), stderr } as never,
  }).finally(() => vi.restoreAllMocks());
  expect(code).not.toBe(0);
  expect(written).toContain('Reading the photographs ░');
  expect(written).toContain('\r\u001b[2Kpas: ');
});
