import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everythingIn, getMode } from '../support/hostile-disk.ts';
import { outboxFolder } from '../support/outbox-files.ts';
import { signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');

test('every file and folder that pas creates is for its owner alone, whatever the umask', async () => {
  const umask = process.umask(0);
  try {
    const home = await signedIn(mock.service);
    await importSeason(home, 2, { photos: true });
    await home.do('harvest-vocab', 'organizace');
    await home.do('push');
    await home.do('backup', 'pas/copy.sqlite', '--photos');
    const madePaths = [
      ...everythingIn(join(home.folder, 'pas')),
      ...everythingIn(join(home.folder, 'state')),
    ];
    expect(existsSync(join(outboxFolder(home), 'photos'))).toBe(true);
    expect(madePaths.length).toBeGreaterThan(8);
    const open = madePaths.filter(
      (path) => getMode(path) !== (statSync(path).isDirectory() ? '700' : '600'),
    );
    expect(open).toEqual([]);
  } finally {
    process.umask(umask);
  }
});
