import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startMockProcess } from '../support/mock-process.ts';
import { expectDone, signedIn } from '../support/run-pas.ts';
import { sendSeason, tinyPng } from '../support/season.ts';

const MIB = 1024 * 1024;
/** As large as it may be once the form's own bytes are added. */
const LARGE_BYTES = 250 * MIB - 1000;

test('a photograph of 250 MiB is sent whole, and takes less than 64 MiB of memory more than a small one', async () => {
  await using service = await startMockProcess();
  const home = await signedIn(service, []);
  await sendSeason(home, 2);
  const large = home.file('large.png', tinyPng(2));
  truncateSync(large, LARGE_BYTES);

  const pushed = async (find: string, path: string): Promise<number> => {
    await home.do('photo', 'add', find, path);
    const report = join(home.folder, 'rss');
    const atExit = `import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`;
    await expectDone(
      home
        .with({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}` })
        .start('push').ended,
    );
    return Number(readFileSync(report, 'utf8')) * 1024;
  };
  const before = (await service.state()).photos;
  const smallBytes = await pushed('K-1', home.file('small.png', tinyPng(1)));
  const largeBytes = await pushed('K-2', large);

  expect((await service.state()).photos - before).toBe(2);
  expect((largeBytes - smallBytes) / MIB).toBeLessThan(64);
});
