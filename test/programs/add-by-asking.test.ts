import { beforeEach, describe, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import { photoWithGps } from '../support/photo-with-gps.ts';
import { answer, correct, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

async function found(localId: string): Promise<Listed | undefined> {
  return (await home.json('list')).find((find) => find.local_id === localId);
}

describe('two finds are entered on a terminal', () => {
  test('in English: terms are searched while typing, a wrong answer is corrected, the next find needs few keys', async () => {
    await using terminal = await startTerminal(['add'], home);
    await answer(terminal, 'Number of the find (001)', 'K-017');
    await answer(terminal, 'Project', 'C-202400101', '❯ C-202400101');
    await answer(terminal, 'Target state', '2', '❯ 2 submitted');
    await answer(terminal, 'Finder', 'novak', '❯ Novák, Jan');
    await answer(terminal, 'Date of the find', '31. 2. 2024');
    await correct(terminal, 'does not exist in the calendar', 'Date of the find', '9. 3. 2024');
    await terminal.expect('? Accessibility', '❯ leave it for later', 'anonym');
    await answer(terminal, 'Accessibility', 'research', '❯ researcher (badatel)');
    await answer(terminal, 'Object', 'broch', '❯ brooch (spona)');
    await answer(terminal, 'Material', 'zelezo', '❯ iron (železo)');
    await answer(terminal, 'Period', 'laten', '❯ La Tène Period');
    await answer(terminal, 'Context', 'walking', '❯ field walking');
    await answer(terminal, 'Coordinates', '49.8405 15.1712');
    await terminal.expect('has its axes swapped.');
    await answer(terminal, 'Is this right?');
    await answer(terminal, 'Place in words', 'Field behind the mill');
    await answer(terminal, 'Depth (cm)', '35');
    await answer(terminal, 'Save K-017?', '', '❯ Save, ready to be sent');
    await answer(terminal, 'Add another find?');

    await answer(terminal, 'Number of the find (K-018)');
    for (const question of ['Project', 'Target state', 'Finder'])
      await answer(terminal, question, '', '❯');
    await answer(terminal, 'Date of the find');
    for (const question of ['Accessibility', 'Object', 'Material', 'Period', 'Context'])
      await answer(terminal, question, '', '❯');
    home.file('IMG 1.jpg', photoWithGps(49.8406, 15.1713));
    await answer(terminal, 'Coordinates', "'IMG 1.jpg'");
    await terminal.expect('→ 49.84060 N 15.17130 E');
    await answer(terminal, 'Place in words (Field behind the mill)');
    await answer(terminal, 'Depth (cm)', '40');
    await answer(terminal, 'Save K-018?', '', '❯ Save');
    await answer(terminal, 'Add another find?', 'n');
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    // Nothing is wrapped in the middle of a word, nothing is drawn twice.
    expect(screen.split('\n').filter((line) => line.includes('Depth (cm)'))).toEqual([
      '✔ Depth (cm) 35',
      '✔ Depth (cm) 40',
    ]);
    expect(await found('K-018')).toMatchObject({
      state: 'queued',
      elements: { datum_nalezu: '2024-03-09', hloubka: 40 },
    });
  });

  test('in Czech: Ctrl-C keeps a draft, which pas edit completes', async () => {
    const czech = home.with({ PAS_LANG: 'cs' });
    await using terminal = await startTerminal(['add', '--same-as', 'K-017'], czech);
    await answer(terminal, 'Číslo nálezu', 'C-1');
    await answer(terminal, 'Souřadnice', `49°50'25,8" s. š. 15°10'16" v. d.`);
    await terminal.expect('? Hloubka (cm)');
    await terminal.press('C-c');
    const { code, screen } = await terminal.ended();
    expect(code).toBe(130);
    expect(screen).toContain('C-1 zůstává uložen jako rozepsaný.');
    expect(await found('C-1')).toMatchObject({ state: 'draft' });

    await using resumed = await startTerminal(['edit', 'C-1'], czech);
    await answer(resumed, 'Pro stav 2 odeslaný ještě něco chybí', '', '❯ ✗ Hloubka');
    await answer(resumed, 'Hloubka (cm)', 'hluboko');
    await correct(resumed, '„hluboko“', 'Hloubka (cm)', '35');
    await answer(resumed, 'Uložit C-1?', '', '❯ Uložit');
    expect((await resumed.ended()).code).toBe(0);
    expect(await found('C-1')).toMatchObject({
      state: 'queued',
      elements: { lokalizace: 'Field behind the mill', hloubka: 35 },
    });
  });
});

test('a power cut loses no answer, and an unfinished find is not sent', async () => {
  await using terminal = await startTerminal(['add', '--same-as', 'K-017'], home);
  await answer(terminal, 'Number of the find', 'P-1');
  await answer(terminal, 'Coordinates', '49.8405N 15.1712E');
  await answer(terminal, 'Depth (cm)', '35');
  // Complete by now, but not yet reported.
  await terminal.expect('Save P-1?');
  await terminal.kill();
  expect(await found('P-1')).toMatchObject({ state: 'draft', elements: { hloubka: 35 } });

  await using edited = await startTerminal(['edit', 'P-1'], home);
  await answer(edited, 'Save P-1?', '', '❯ Save, ready to be sent');
  expect((await edited.ended()).code).toBe(0);
  expect(await found('P-1')).toMatchObject({ state: 'queued' });
});

test('pas edit changes any answer; Ctrl-C changes nothing', async () => {
  const before = await found('K-018');
  await using left = await startTerminal(['edit', 'K-018'], home);
  await answer(left, 'Save K-018?', 'depth');
  await answer(left, 'Depth (cm) (40)', '45');
  // Behind the answer: the first review has the same question, and is still on the screen.
  await left.expect('✔ Depth (cm) 45', '? Save K-018?');
  await left.press('C-c');
  const interrupted = await left.ended();
  expect(interrupted.code).toBe(130);
  expect(interrupted.screen).toContain('Interrupted. Nothing was changed.');
  expect(await found('K-018')).toEqual(before);

  await using terminal = await startTerminal(['edit', 'K-018'], home);
  await answer(terminal, 'Save K-018?', 'object', '❯   Object: spona');
  await answer(terminal, 'Object', 'buckl', '❯ buckle (přezka)');
  await answer(terminal, 'Save K-018?', '', '❯ Save, ready to be sent');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain('Changed: 1 find of 1.');
  const after = await found('K-018');
  expect(after?.elements).toEqual({
    ...before?.elements,
    druh_nalezu: after?.elements['druh_nalezu'],
  });
  expect(after?.elements['druh_nalezu']).not.toEqual(before?.elements['druh_nalezu']);
});

describe('before the first find', () => {
  const newHome = useVocabularies(mock);

  test('an issue with an answer wraps between words on a narrow terminal', async () => {
    await using terminal = await startTerminal(['add'], newHome, { columns: 44, rows: 40 });
    await answer(terminal, 'Number of the find', 'N-1');
    await answer(terminal, 'Project', 'C-202400101', '❯ C-202400101');
    await answer(terminal, 'Target state', '2', '❯ 2 submitted');
    await answer(terminal, 'Finder', 'novak', '❯ Novák, Jan');
    await answer(terminal, 'Date of the find', '31. 2. 2024');
    await terminal.expect(
      /does not exist in the\s*\n\s*calendar\. Write the right date as\s*\n\s*YYYY-MM-DD\./,
    );
    await terminal.press('C-c');
  });
});
