import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashSha512 } from '../../../src/base/disk/files.ts';
import { makeContentStore } from '../../../src/outbox/changes/content-store.ts';
import { openLedger } from '../../../src/outbox/ledger.ts';
import { type Outbox, openOutbox } from '../../../src/outbox/open-outbox.ts';
import {
  backUpOutbox,
  openCopyOfBackup,
  replaceOutboxContents,
} from '../../../src/outbox/repair-outbox.ts';
import { type OutboxFiles, restoreOutbox } from '../../../src/outbox/restore-outbox.ts';
import { iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  ADDRESS,
  BINDING,
  listAllEntries,
  queueImport,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';

type More = Partial<Parameters<typeof restoreOutbox>[0]>;

/** A data home, and a backup of an outbox that is not in it. */
function scene(fill: (outbox: Outbox) => void = (outbox) => void queueImport(outbox, 'K-1')) {
  const clock = manualClock(Date.UTC(2024, 5, 1, 9, 5, 7, 250));
  const home = tempFolder();
  const backup = join(tempFolder(), 'backup.sqlite');
  const outboxesFolder = join(home, 'outboxes');
  const ledgerFile = join(home, 'state', 'ledger.sqlite');
  {
    using outbox = tempOutbox(clock);
    fill(outbox);
    backUpOutbox(outbox, backup);
  }
  const folder = join(outboxesFolder, 'service-account');
  const outboxFile = join(folder, 'outbox.sqlite');
  const place: OutboxFiles = {
    outboxFile,
    photosFolder: join(folder, 'photos'),
    lock: {
      folder: join(home, 'locks'),
      scope: 'service-account',
      outboxFolder: folder,
      clock,
    },
    open: () =>
      openOutbox(outboxFile, clock, {
        binding: BINDING,
        ledger: () => openLedger(ledgerFile),
      }),
  };
  const progress: number[] = [];
  const restore = (more: More = {}) =>
    restoreOutbox({
      backup,
      clock,
      outboxesFolder,
      place,
      replace: false,
      owner: { kind: 'production', addresses: [ADDRESS], username: null, account: null },
      onPhotograph: (done) => void progress.push(done),
      ...more,
    });
  const finds = (): string[] => {
    const outbox = place.open();
    const names = [...iterateFinds(outbox)].map(({ localId }) => localId);
    outbox.close();
    return names;
  };
  const enter = (localId: string): void => {
    const outbox = place.open();
    queueImport(outbox, localId);
    outbox.close();
  };
  return {
    clock,
    backup,
    folder,
    outboxesFolder,
    place,
    progress,
    restore,
    finds,
    enter,
  };
}

const ASIDE = 'outbox-replaced-2024-06-01T10-05-07Z.sqlite';
const asidesIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('outbox-replaced-'));

describe('an outbox with finds', () => {
  test('stays without --yes, and is set aside otherwise, however often', async () => {
    const { restore, finds, enter, folder, clock } = scene();
    enter('K-old');
    await expect(restore()).rejects.toThrow(/already has an outbox with finds/);
    expect([finds(), asidesIn(folder)]).toEqual([['K-old'], []]);
    await clock.advance(3_600_000);
    for (let nth = 0; nth < 3; nth += 1) await restore({ replace: true });
    expect([finds(), asidesIn(folder).sort()]).toEqual([
      ['K-1'],
      [ASIDE.replace('.sqlite', '-2.sqlite'), ASIDE.replace('.sqlite', '-3.sqlite'), ASIDE].sort(),
    ]);
  });
});

test('a damaged outbox stays without --yes, and is set aside otherwise', async () => {
  const { restore, folder, finds } = scene();
  mkdirSync(folder, { recursive: true });
  const outboxFile = join(folder, 'outbox.sqlite');
  for (const damaged of ['first', 'second']) {
    writeFileSync(outboxFile, `what a broken drive left of the ${damaged}. `.repeat(100));
    await expect(restore()).rejects.toThrow(/the existing outbox is damaged/);
    const { aside = '' } = await restore({ replace: true });
    expect([readFileSync(aside, 'utf8').includes(damaged), finds()]).toEqual([true, ['K-1']]);
  }
  expect(asidesIn(folder)).toHaveLength(2);
});

test('leftovers of a killed restore are removed after a day, and nothing else', async () => {
  const { restore, outboxesFolder, clock } = scene();
  mkdirSync(outboxesFolder, { recursive: true });
  const draft = (n: number): string =>
    join(outboxesFolder, `restoring-0a1b2c3d-0000-4000-8000-00000000000${n}.tmp.sqlite`);
  const old = draft(1);
  const young = draft(2);
  const others = join(outboxesFolder, 'restoring-notes.txt');
  for (const path of [old, young, others]) writeFileSync(path, '');
  const seconds = clock.now() / 1000;
  for (const path of [old, others]) utimesSync(path, seconds - 90_000, seconds - 90_000);
  utimesSync(young, seconds, seconds);
  await restore();
  expect([old, young, others].map((path) => existsSync(path))).toEqual([false, true, true]);
});

test('photographs are restored from beside the backup, and missing ones are named', async () => {
  const bytes = (n: number): Buffer => Buffer.from(`photograph ${n}`);
  const photograph = (n: number) => ({
    name: `${n}.jpg`,
    mediaType: 'image/jpeg',
    sha512: hashSha512(bytes(n)),
    sizeBytes: bytes(n).length,
  });
  const { restore, backup, folder, progress } = scene((outbox) => {
    const { findId } = queueImport(outbox, 'K-1');
    for (const n of [0, 1, 2, 3]) queuePhoto(outbox, findId, photograph(n));
  });
  const here = makeContentStore(join(folder, 'photos'));
  const beside = makeContentStore(`${backup}.photos`);
  const put = async (store: typeof here, n: number, content?: Buffer): Promise<void> => {
    const path = join(tempFolder(), 'x.jpg');
    writeFileSync(path, bytes(n));
    await store.add(path);
    if (content !== undefined) writeFileSync(store.getPath(hashSha512(bytes(n))), content);
  };
  await put(here, 0);
  await put(beside, 1);
  // One that a drive has changed is none.
  await put(beside, 2, Buffer.from('photograph x'));
  const { photosCopied, missing } = await restore();
  expect([photosCopied, missing.map((entry) => entry.photograph.name)]).toEqual([
    1,
    ['2.jpg', '3.jpg'],
  ]);
  expect([existsSync(here.getPath(hashSha512(bytes(1)))), progress]).toEqual([true, [0, 1, 2, 3]]);
});

const CLOCK = manualClock();
const newFile = (): string => join(tempFolder(), 'file.sqlite');
const open = (backup: string): Outbox => openCopyOfBackup(backup, newFile(), CLOCK);
const localIds = (outbox: Outbox): (string | null)[] =>
  listAllEntries(outbox).map(({ localId }) => localId);

function makeBackup(...names: readonly string[]): string {
  using outbox = tempOutbox();
  for (const name of names) queueImport(outbox, name);
  const backup = newFile();
  backUpOutbox(outbox, backup);
  return backup;
}

describe('a backup', () => {
  test('stays unchanged whatever happens to the opened outbox', () => {
    const backup = makeBackup('K-1');
    const before = readFileSync(backup);
    const opened = open(backup);
    queueImport(opened, 'K-2');
    opened.close();
    expect(readFileSync(backup).equals(before)).toBe(true);
  });

  test('with a changed word in the schema is damaged', () => {
    const backup = makeBackup('K-1');
    const bytes = readFileSync(backup);
    writeFileSync(
      backup,
      Buffer.from(
        bytes.toString('latin1').replaceAll('united_fact text', 'united_fatc text'),
        'latin1',
      ),
    );
    expect(() => open(backup)).toThrow(/the backup is damaged/);
  });
});

describe('the content of a backup', () => {
  test('does not replace the old one if that cannot be set aside, and can be restored again', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-old');
    const backup = makeBackup('K-1');
    const nowhere = join(tempFolder(), 'no', 'folder', 'aside.sqlite');
    expect(() => replaceOutboxContents(outbox, backup, nowhere)).toThrow();
    expect([localIds(outbox), existsSync(nowhere)]).toEqual([['K-old'], false]);
    replaceOutboxContents(outbox, backup, newFile());
    expect(localIds(outbox)).toEqual(['K-1']);
  });
});
