import { describe, expect, test } from 'vitest';
import { seededRandom } from '../chaos/random.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { expectDone, type Home, signedIn } from '../support/run-pas.ts';

const STORIES = 4;
const FAULTS = ['bad-resumption-token', 'oai-503', 'truncate', 'reset-before-save', '502', 'malformed'] as const;

type Entry = { readonly id: string; readonly label: string; readonly gone: string | null };

/** What the service lists, read without a line of the client's code: identifier, label, and whether it is deleted. */
async function serverEntries({ oai_base }: MockProcess): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  let query = 'metadataPrefix=oai_svc&set=heslo';
  for (;;) {
    const page = await (await fetch(`${oai_base}/2.2/oai?verb=ListRecords&${query}`)).text();
    for (const [record] of page.matchAll(/<record>.*?<\/record>/gs)) {
      const ident = record.match(/\/id\/(HES-\d+)</)?.[1] ?? '';
      if (!record.includes('status="deleted"')) entries.set(ident, record.match(/<svc:heslo xml:lang="cs">([^<]*)</)?.[1] ?? '');
    }
    const token = page.match(/<resumptionToken[^>]*>([^<]+)</)?.[1];
    if (token === undefined) return entries;
    query = `resumptionToken=${encodeURIComponent(token)}`;
  }
}

async function clientEntries(home: Home): Promise<Map<string, string>> {
  const entries = await home.json<Entry[]>('vocab', 'list', 'heslo');
  return new Map(entries.map(({ id, label }) => [id, label]));
}

describe.each([
  ['strict', []],
  ['deployed', ['--deployed']],
] as const)('a %s service', (mode, flags) => {
  test.each(Array.from({ length: STORIES }, (_, index) => index + 1))(
    'that changes, deletes, forgets tokens and fails while a harvest is killed again and again: story %i ends with the same list on both sides',
    async (seed) => {
      const random = seededRandom(seed * 7919 + mode.length);
      await using service = await startMockProcess('--page-size', String(random.pick([7, 20, 50, 100])), ...flags);
      const home = await signedIn(service, 'archaeologist', ['--oai-auth', 'none']);
      const idents = [...(await serverEntries(service)).keys()];
      for (let turn = 0; turn < 4; turn += 1) {
        await service.faults({
          endpoint: 'oai',
          fault: random.pick(FAULTS),
          times: random.between(1, 2),
          when: { nth: random.between(1, 8) },
        });
        const running = home.start('harvest-vocab', 'heslo');
        for (let act = 0; act < 5; act += 1) {
          await new Promise((resolve) => setTimeout(resolve, random.between(20, 150)));
          await disturb(
            service,
            random.pick(idents),
            random.pick(['change', 'change', 'delete', 'clock'] as const),
            `${turn}-${act}`,
          );
        }
        if (random.chance(0.6)) running.child.kill('SIGKILL');
        await running.ended;
      }
      await service.faults();
      await expectDone(home.pas('harvest-vocab', 'heslo'));
      const onServer = await serverEntries(service);
      expect(await clientEntries(home)).toEqual(onServer);
      expect([...onServer.values()].filter((label) => label.startsWith('změněno'))).not.toEqual([]);
      expect(onServer.size).toBeLessThan(idents.length);
    },
  );
});

async function disturb(service: MockProcess, ident: string, act: 'change' | 'delete' | 'clock', mark: string): Promise<void> {
  switch (act) {
    case 'change':
      await service
        .control('POST', '/records', { ident, changes: { heslo: { '@xml:lang': 'cs', '#': `změněno ${mark}` } } })
        // A deleted record has nothing left to change.
        .catch(() => {});
      return;
    case 'delete':
      await service.control('POST', `/records/${ident}/delete`).catch(() => {});
      return;
    case 'clock':
      // Past the life of a resumption token.
      await service.control('POST', '/clock', { advance_ms: 2 * 3_600_000 });
      return;
  }
}
