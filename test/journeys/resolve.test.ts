import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { expectEnded, findStates, type Home, settledAfter, signedIn } from '../support/run-pas.ts';
import { importSeason, tinyPng, writeSeason } from '../support/season.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;
const IN_DOUBT = { endpoint: 'import', when: { nth: 2 }, times: 1 };

/** K-1 and K-3 are sent; K-2 is uncertain, and no lookup can settle it for an hour. */
async function doubt(fault: string): Promise<void> {
  home = await signedIn(mock.service, settledAfter(3_600_000), 'archivist');
  await importSeason(home, 3);
  await mock.service.faults({ ...IN_DOUBT, fault });
  await home.pas('push', '--json');
  expect((await findStates(home))['K-2']).toBe(
    fault === '500-after-save' ? 'accepted' : 'uncertain',
  );
}

/** The last record that the service has given to a find of this home. */
async function newest(of = home): Promise<string> {
  const idents = (await of.json('list')).flatMap(({ ident_cely }) => ident_cely ?? []);
  return idents.sort().at(-1) ?? '';
}

/** Another account's record of another find, in the same project. */
async function anothers(): Promise<string> {
  const other = await signedIn(mock.service, settledAfter(0));
  await importSeason(other, 2, { state: 2 });
  await other.do('push', 'K-1');
  return newest(other);
}

async function stateOfFind(): Promise<string | undefined> {
  const { entries } = await home.json('show', 'K-2');
  return entries.find(({ kind }) => kind === 'import')?.state;
}

const next = (ident: string, by = 1): string =>
  ident.replace(/\d+$/, (digits) => String(Number(digits) + by).padStart(digits.length, '0'));

describe('a record that a person names for a find', () => {
  beforeEach(() => doubt('500-before-save'));

  test.each([
    ['hello', 'is not an identifier of a find'],
    ['C-209900101-N00001', 'is a find of another project'],
  ])('is refused if it is written %s', async (ident, output) => {
    await expectEnded(home.pas('resolve', 'K-2', '--created', ident, '--yes'), 2, output);
    expect((await findStates(home))['K-2']).toBe('uncertain');
  });

  test('is refused for a draft with a photograph', async () => {
    const season = readFileSync(writeSeason(home, 1, { state: 2, photos: true }), 'utf8');
    const draft = season
      .replace('K-1', 'D-1')
      .replace(';HES-000253;', ';;')
      .replace('2024-06-01', '2024-07-02');
    await home.pas('import', home.file('draft.csv', draft));
    const run = await home.pas('resolve', 'D-1', '--created', next(await newest()), '--yes');
    await expectEnded(run, 2, 'Nothing of D-1 waits for a decision');
  });

  test('is refused without a terminal if the service does not list it, with or without --yes', async () => {
    const ident = next(await newest(), 40);
    for (const flags of [[], ['--yes']]) {
      const run = await home.pas('resolve', 'K-2', '--created', ident, ...flags);
      await expectEnded(run, 2, 'wait until the service lists it');
      expect(run.stderr).not.toContain('add --yes');
    }
    expect((await findStates(home))['K-2']).toBe('uncertain');
  });

  test('is shown beside the find, with what speaks against it', async () => {
    const ident = await anothers();
    const run = await home.pas('resolve', 'K-2', '--created', ident);
    await expectEnded(run, 2, 'If so, add --yes.');
    expect(run.stderr).toMatch(/created by the account U-\d+, which did not send this find/);
    expect(run.stderr).toMatch(/It differs in .*poznamka, lokalizace/);
    expect(run.stdout).toMatch(new RegExp(`ELEMENT +K-2 +${ident}`));
    expect(run.stdout).toMatch(/≠ +poznamka +nález 2 +nález 1/);
    expect((await findStates(home))['K-2']).toBe('uncertain');
  });

  test('is accepted as given if the service cannot be queried', async () => {
    await mock.service.faults({ endpoint: 'oai', when: { every: 1 }, fault: 'malformed' });
    const run = await home.do('resolve', 'K-2', '--created', next(await newest()), '--yes');
    expect(run.stderr).toContain('The record could not be looked up');
    expect((await findStates(home))['K-2']).toBe('accepted');
  });
});

test('a decision stays once something was sent because of it, which undo says', async () => {
  await doubt('500-before-save');
  await home.do('photo', 'add', 'K-2', home.file('a.png', tinyPng(7)));
  await mock.service.faults();
  await home.do('resolve', 'K-2', '--resend');
  await home.do('push');
  await expectEnded(
    home.pas('undo'),
    3,
    'K-2 was not undone: it has been sent or attempted since, or a later command changed it.',
  );
  expect((await findStates(home))['K-2']).toBe('accepted');
  await mock.expectMade({ finds: 3, photos: 1 });
});

test('a displayed command can be typed as it is', async () => {
  await doubt('500-before-save');
  const { needs_person } = await home.json('status');
  expect(needs_person).toMatchObject([{ find: 'K-2', command: 'pas resolve K-2' }]);
  await expectEnded(
    home.pas('resolve', 'K-2'),
    2,
    /Decide about K-2:[\s\S]*pas resolve K-2 --created IDENT\n {5}\S.*pas resolve K-2 --resend\n {5}\S.*pas resolve K-2 --drop/,
  );
  expect((await findStates(home))['K-2']).toBe('uncertain');
});

test.skipIf(whyNoTerminal !== undefined)(
  'on a terminal a person sees both sides, and can still decline',
  async () => {
    await doubt('500-before-save');
    const ident = await anothers();
    await using terminal = await startTerminal(['resolve', 'K-2', '--created', ident], home, {
      columns: 110,
      rows: 50,
    });
    await terminal.expect('It differs in');
    await answer(terminal, `Is ${ident} the record of K-2? (y/N)`, 'n');
    expect((await terminal.ended()).code).toBe(2);
    expect(await stateOfFind()).toBe('uncertain');
  },
);
