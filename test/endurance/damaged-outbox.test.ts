import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { seededRandom } from '../support/random.ts';
import { findAt } from '../support/records-at-service.ts';
import { type Home, type Run, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
/** Damaged outboxes. */
const RUNS = Number(process.env['DAMAGE_RUNS'] ?? 8);
const FIRST_SEED = Number(process.env['DAMAGE_SEED'] ?? 1);

/** Finds that were sent, and that are wanted; all have a number and a photograph. */
const SENT = ['K-1', 'K-2'];
const WANTED = ['K-3', 'K-4', 'K-5', 'K-6'];

let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, WITHOUT_PAUSES);
  await importSeason(home, 6, { photos: true });
  for (const id of WANTED) await home.do('number', 'set', id, `A ${id}`);
  keep('before');
  await home.do('push', ...SENT);
  await mock.service.faults({ endpoint: 'import', when: { every: 1 }, times: 1, fault: '503' });
  expect((await home.pas('push', 'K-3')).code).not.toBe(0);
  await mock.service.faults();
  const database = openSqlite(outboxFile(home));
  database.pragma('wal_checkpoint(truncate)');
  database.close();
  keep('after');
});

const kept = (name: string): string => join(home.folder, 'kept', name);

/** Keeps the data and the state of the home. */
function keep(name: string): void {
  for (const part of ['state', 'pas'])
    cpSync(join(home.folder, part), join(kept(name), part), { recursive: true });
}

function putBack(name: string): void {
  for (const part of ['state', 'pas']) {
    rmSync(join(home.folder, part), { recursive: true, force: true });
    cpSync(join(kept(name), part), join(home.folder, part), { recursive: true });
  }
}

/** One changed bit, or a few changed bytes. */
function damaged(bytes: Buffer, seed: number): Buffer {
  const { between } = seededRandom(seed);
  const copy = Buffer.from(bytes);
  const at = between(0, copy.length - 1);
  if (seed % 2 === 0) copy.writeUInt8(copy.readUInt8(at) ^ (1 << between(0, 7)), at);
  else
    for (let more = between(1, 6); more > 0; more -= 1)
      copy.writeUInt8(between(0, 255), Math.min(at + more, copy.length - 1));
  return copy;
}

/** Puts service and home back to the same moment. */
async function putAllBack(): Promise<void> {
  await mock.service.control('POST', '/reset');
  putBack('before');
  await home.do('push', ...SENT);
  putBack('after');
}

type Listed = { readonly finds: readonly { readonly ident: string; readonly datestamp: string }[] };

/** All that the service has got since it was put back, sorted. */
async function listMade(before: ReadonlySet<string>): Promise<string[]> {
  const { finds } = await mock.service.control<Listed>('GET', '/finds?limit=100');
  const records = finds
    .filter(({ ident }) => !before.has(ident))
    .map(({ ident }) => findAt(mock.service, ident));
  return (await Promise.all(records))
    .flatMap((body) => [
      `${body.poznamka}, ${body.hloubka}, ${body.chranene_udaje?.lokalizace}`,
      ...(body.evidencni_cislo === undefined ? [] : [`${body.poznamka}: ${body.evidencni_cislo}`]),
      ...(body.soubor ?? []).map(({ historie }) => `${body.poznamka}: ${historie[0]?.poznamka}`),
    ])
    .sort();
}

const WHOLE = WANTED.flatMap((id) => {
  const number = Number(id.slice(2));
  const note = `nález ${number}`;
  return [
    `${note}, ${number - 1}, pole ${number}`,
    `${note}: A ${id}`,
    `${note}: photo-${number}.png`,
  ];
}).sort();

/** Does what is advised until the outbox can be pushed, as a person would. @returns faults */
async function pushWithAdvice(seed: number, before: ReadonlySet<string>): Promise<string[]> {
  const faults: string[] = [];
  const say = (what: string, { code, stdout, stderr }: Run): void =>
    void faults.push(`seed ${seed}: ${what} (${code})\n${stdout}${stderr}`);
  let push = await home.pas('push');
  let isLossNamed = false;
  if (![0, 12, 13].includes(push.code ?? 1)) say('push', push);
  if (push.code === 12) {
    if (!push.stderr.includes('pas doctor --repair')) say('a push without advice', push);
    const repair = await home.pas('doctor', '--repair');
    const takesOver = repair.stdout.includes('pas push --take-over');
    if (repair.code !== (takesOver ? 3 : 0)) say('repair', repair);
    isLossNamed = /Check these finds/.test(repair.stderr);
    push = await home.pas('push', ...(takesOver ? ['--take-over'] : []));
    if (push.code === 12) say('push after the repair', push);
  }
  const made = await listMade(before);
  const isWrong = (each: string, index: number): boolean =>
    !WHOLE.includes(each) || made[index - 1] === each;
  const wrong = made.filter(isWrong);
  if (wrong.length > 0) say(`${wrong.join('; ')} at the service`, push);
  if (push.code === 0 && made.length < WHOLE.length && !isLossNamed)
    say(`only ${made.length} of ${WHOLE.length} sent`, push);
  return faults;
}

test('A damaged outbox sends nothing wrong, and the repair that is advised helps.', async () => {
  const sound = readFileSync(outboxFile(home));
  const faults: string[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
    await putAllBack();
    writeFileSync(outboxFile(home), damaged(sound, seed));
    const { finds } = await mock.service.control<Listed>('GET', '/finds?limit=100');
    faults.push(...(await pushWithAdvice(seed, new Set(finds.map(({ ident }) => ident)))));
  }
  expect(faults).toEqual([]);
});
