import { existsSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OutboxLeasedError, type PasError } from '../../../src/base/errors.ts';
import { restoreOutbox } from '../../../src/flows/reconcile/restore-outbox.ts';
import { sha512Of } from '../../../src/http/digest.ts';
import { backUpOutbox } from '../../../src/outbox/backup-copy.ts';
import { addPhoto } from '../../../src/outbox/entries.ts';
import { gapsOf } from '../../../src/outbox/gaps.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import { type Outbox, openOutbox, type ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { openService } from '../../../src/outbox/services.ts';
import { openContentStore } from '../../../src/store/content-store.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { ADDRESS, queueImport, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const HOUR_MS = 3_600_000;
const SERVICE = { profile: 'field', address: ADDRESS, username: USERNAME };
type More = Partial<Parameters<typeof restoreOutbox>[0]>;

/** A home, and a backup of another outbox that was made an hour ago. */
async function scene(fill: (outbox: ServiceOutbox) => void = (outbox) => void queueImport(outbox, 'K-1')) {
  const clock: ManualClock = manualClock(Date.UTC(2024, 5, 1, 9, 5, 7, 250));
  const home = tempFolder();
  const [backup, outboxFile, photosFolder] = [
    join(tempFolder(), 'backup.sqlite'),
    join(home, 'outbox.sqlite'),
    join(home, 'photos'),
  ] as const;
  {
    using outbox = tempOutbox(clock);
    fill(outbox);
    backUpOutbox(outbox.path, backup, clock);
  }
  const madeMs = clock.now();
  await clock.advance(HOUR_MS);
  const open: Outbox[] = [];
  const opened = (): Outbox => {
    const outbox = openOutbox(outboxFile, clock);
    open.push(outbox);
    return outbox;
  };
  const progress: [number, number][] = [];
  const restore = (more: More = {}) =>
    restoreOutbox({
      ...{ backup, outboxFile, photosFolder, clock, profiles: [SERVICE], openPresent: async () => opened() },
      ...{ replace: false, nothingSent: false, takeOver: false, onPhotograph: (...at) => void progress.push(at) },
      ...more,
    });
  const failure = async (more: More = {}): Promise<readonly [string, string]> => {
    const thrown = await restore(more).catch((each: unknown) => each as PasError);
    if (!(thrown instanceof Error)) throw new Error('it was restored');
    return [thrown.message, String(thrown.hint ?? '')];
  };
  const finds = () => opened().sql('select local_id from finds order by id').pluck().all();
  const doubts = () => opened().sql('select doubt_from_at, doubt_until_at from entries').raw().all();
  return { clock, doubts, home, backup, outboxFile, photosFolder, madeMs, opened, restore, failure, progress, finds };
}

const ASIDE = 'outbox-replaced-2024-06-01T10-05-07Z.sqlite';

describe('an outbox with finds', () => {
  test('stays where nothing is said of replacing it', async () => {
    const { opened, failure, outboxFile, finds, home } = await scene();
    queueImport(openService(opened(), SERVICE), 'K-old');
    expect(await failure()).toEqual([
      `There is an outbox with finds in ${outboxFile}.`,
      'Add --replace to put the backup in its place: it is moved aside, not deleted. pas list shows what it has.',
    ]);
    expect([finds(), readdirSync(home).filter((name) => /replaced|tmp/.test(name))]).toEqual([['K-old'], []]);
  });

  test('is put aside under a name that nothing has, however often', async () => {
    const { opened, restore, home, finds } = await scene();
    const present = opened();
    queueImport(openService(present, SERVICE), 'K-old');
    const asides: (string | undefined)[] = [];
    for (let nth = 0; nth < 3; nth += 1) asides.push((await restore({ replace: true })).aside);
    expect(asides).toEqual(
      [ASIDE, ASIDE.replace('.sqlite', '-2.sqlite'), ASIDE.replace('.sqlite', '-3.sqlite')].map((name) => join(home, name)),
    );
    expect([finds(), asides.every((each) => existsSync(each ?? ''))]).toEqual([['K-1'], true]);
  });

  test('is not replaced beside a push', async () => {
    const { opened, restore, finds } = await scene();
    const lease = takeLease(openService(opened(), SERVICE));
    await expect(restore()).rejects.toThrow(OutboxLeasedError);
    lease.release();
    await restore();
    expect(finds()).toEqual(['K-1']);
    // The place was given back.
    takeLease(openService(opened(), SERVICE)).release();
  });
});

test('an outbox that is empty is not put aside', async () => {
  const { restore, home, madeMs, clock, doubts } = await scene();
  const restored = await restore();
  expect(restored).toMatchObject({ madeMs, finds: 1, aside: undefined, photosCopied: 0, missing: [], unnamed: [] });
  expect([restored.doubtful.length, doubts()]).toEqual([1, [[madeMs, clock.now()]]]);
  expect(readdirSync(home).filter((name) => /replaced|tmp/.test(name))).toEqual([]);
});

test('where a person knows that nothing was sent, nothing is in doubt', async () => {
  const { restore, opened } = await scene();
  expect((await restore({ nothingSent: true })).doubtful).toEqual([]);
  const outbox = openService(opened(), SERVICE);
  expect([outbox.sql('select state from entries').pluck().all(), gapsOf(outbox)]).toEqual([['queued'], []]);
});

test('of each service that a profile names nothing is known of the time since', async () => {
  const { restore, opened, madeMs, clock } = await scene();
  const training = { profile: 'training', address: 'https://training.example.org', username: 'eva' };
  await restore({ profiles: [SERVICE, training] });
  const gap = { project: null, fromMs: madeMs, untilMs: clock.now() };
  const outbox = opened();
  for (const service of [SERVICE, training]) expect(gapsOf(openService(outbox, service))).toEqual([gap]);
});

test('a clock that went back since makes the time in doubt no shorter', async () => {
  const { restore, clock, madeMs, doubts } = await scene();
  await restore({ clock: { ...clock, now: () => madeMs - HOUR_MS } });
  expect(doubts()).toEqual([[madeMs - HOUR_MS, madeMs - HOUR_MS]]);
});

describe('a damaged outbox', () => {
  test('stays where nothing is said of replacing it, and is put aside otherwise', async () => {
    const { restore, failure, outboxFile, home, finds } = await scene();
    writeFileSync(outboxFile, 'what a broken drive left. '.repeat(100));
    const more = { openPresent: () => Promise.reject(new Error('it is damaged')) };
    expect(await failure(more)).toEqual([
      `${outboxFile}: the outbox that is there is damaged.`,
      'Add --replace: it is moved aside, not deleted.',
    ]);
    expect((await restore({ ...more, replace: true })).aside).toBe(join(home, ASIDE));
    expect(finds()).toEqual(['K-1']);
  });
});

describe('what is no backup', () => {
  test('is told as what it is', async () => {
    const { failure, home, outboxFile, opened } = await scene();
    opened();
    const folder = join(home, 'folder');
    mkdirSync(folder);
    writeFileSync(join(home, 'text'), 'no database');
    linkSync(outboxFile, join(home, 'link'));
    const said = (name: string) => failure({ backup: join(home, name) });
    expect((await said('none'))[0]).toContain(`There is no file ${join(home, 'none')}.`);
    expect((await said('folder'))[0]).toContain(`${folder} is not a file.`);
    expect(await said('text')).toEqual([
      expect.stringContaining(`${join(home, 'text')} is no backup: it is not a database.`),
      'Name a file that pas backup made.',
    ]);
    for (const name of ['outbox.sqlite', 'link'])
      expect((await said(name))[0]).toContain(`${join(home, name)} is the outbox itself.`);
  });
});

test('what a restore that was killed left unfinished is swept away, and nothing else', async () => {
  const { restore, home } = await scene();
  const left = ['restoring.tmp.sqlite', 'restoring.tmp.sqlite-wal', `${ASIDE}.0a1b-2c.tmp`, `${ASIDE}.0a1b-2c.tmp-wal`];
  const kept = [
    'a restoring.tmp.sqlite',
    `an ${ASIDE}.0a1b.tmp`,
    `${ASIDE}.0a1b.tmp.txt`,
    `${ASIDE}.notes.tmp`,
    `${ASIDE}.0a1b.tmp-wal-old`,
    ASIDE,
  ];
  for (const name of [...left, ...kept]) writeFileSync(join(home, name), '');
  await restore();
  const there = readdirSync(home);
  expect([left.filter((name) => there.includes(name)), kept.filter((name) => !there.includes(name))]).toEqual([[], []]);
});

test('photographs come back from beside the backup, and what is nowhere is named', async () => {
  const bytes = (n: number): Buffer => Buffer.from(`photograph ${n}`);
  const linked = join(tempFolder(), 'linked.jpg');
  writeFileSync(linked, bytes(4));
  const photograph = (n: number, link?: string) => ({
    ...{ name: `${n}.jpg`, mediaType: 'image/jpeg', sha512: sha512Of(bytes(n)), sizeBytes: bytes(n).length },
    ...(link === undefined ? {} : { link }),
  });
  const { restore, backup, photosFolder, progress } = await scene((outbox) => {
    const { findId } = queueImport(outbox, 'K-1');
    for (const n of [0, 1, 2, 3]) addPhoto(outbox, { findId, identCely: null }, photograph(n));
    addPhoto(outbox, { findId, identCely: null }, photograph(4, linked));
    addPhoto(outbox, { findId, identCely: null }, photograph(5, `${linked}.gone`));
  });
  const [here, beside] = [openContentStore(photosFolder), openContentStore(`${backup}.photos`)];
  const put = async (store: typeof here, n: number, content = bytes(n)): Promise<void> => {
    const path = join(tempFolder(), 'x.jpg');
    writeFileSync(path, bytes(n));
    await store.add(path);
    if (content !== bytes(n)) writeFileSync(store.pathOf(sha512Of(bytes(n))), content);
  };
  await put(here, 0);
  for (const n of [1, 5]) await put(beside, n);
  // One that a drive has changed is none.
  await put(beside, 2, Buffer.from('photograph x'));
  const { photosCopied, missing } = await restore();
  expect([photosCopied, missing.map((entry) => entry.photograph.name)]).toEqual([1, ['2.jpg', '3.jpg', '5.jpg']]);
  expect(existsSync(here.pathOf(sha512Of(bytes(1))))).toBe(true);
  expect(progress).toEqual([0, 1, 2, 3, 4, 5].map((nth) => [nth, 6]));
});
