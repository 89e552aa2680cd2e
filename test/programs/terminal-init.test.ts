import { expect, test } from 'vitest';
import { startMockProcess } from '../support/mock-process.ts';
import { makeHome } from '../support/run-pas.ts';
import { answer, correct, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

test('a profile is made by answering questions on a terminal, even offline', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init', '--name', 'asked'], makeHome());
  await answer(terminal, 'address of the service', 'https://finds.invalid');
  await terminal.expect('https://finds.invalid does not answer');
  for (const [question, text] of [
    ['address of the write interface', 'https://finds.example.org'],
    ['address of the harvesting interface', ''],
    ['address below which the schemas are', 'https://api.example.org/schema/svc'],
  ] as const) {
    await answer(terminal, question, text);
  }
  await answer(terminal, 'production or training', '', '❯ training');
  await answer(terminal, 'account, usually');
  await answer(terminal, 'Sign in now', 'n');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain('Profile asked is in');
});

test('what the service publishes is not asked for; signing in and harvesting follow', async ({
  skip,
}) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using service = await startMockProcess();
  const home = makeHome();
  await using terminal = await startTerminal(['init', '--name', 'asked'], home, { columns: 110 });
  await answer(terminal, 'address of the service', `${service.base_url}/api/`);
  await answer(terminal, 'account, usually', 'archaeologist');
  await answer(terminal, 'Sign in now');
  await terminal.expect('? Password:');
  await terminal.type('archaeologist');
  await terminal.expect('? Password:');
  await terminal.press('Enter');
  await answer(terminal, 'Harvest the vocabularies now');
  expect((await terminal.ended()).code).toBe(0);
  expect(await home.json('vocab', 'list')).not.toEqual([]);
  expect(await home.json('profile', 'show', 'asked')).toMatchObject({
    baseUrl: service.base_url,
    oaiBase: service.oai_base,
    schemaBase: service.schema_base,
    kind: 'training',
  });
});

test('each answer is checked at once', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  const home = makeHome();
  await using terminal = await startTerminal(['init', '127.0.0.1:9', '--name', 'asked'], home, {
    columns: 110,
  });
  await answer(terminal, 'address of the write interface', 'finds.example.org');
  await correct(
    terminal,
    'must be an address such as https://finds.example.org',
    'address of the write interface',
    'http://finds.example.org',
  );
  await correct(
    terminal,
    'would send the password unencrypted',
    'address of the write interface',
    'https://finds.example.org',
  );
  await answer(terminal, 'address of the harvesting interface', '');
  await answer(
    terminal,
    'address below which the schemas are',
    'https://api.example.org/schema/svc',
  );
  await answer(terminal, 'production or training', 'prod', '❯ production');
  await answer(terminal, 'account, usually', '');
  await answer(terminal, 'Sign in now', 'n');
  expect((await terminal.ended()).code).toBe(0);
  expect(await home.json('profile', 'show', 'asked')).toMatchObject({
    kind: 'production',
    oaiAuth: 'none',
  });
});

test('Ctrl-C during the questions ends with 130 and makes no profile', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init'], makeHome());
  await terminal.expect('? address of the service');
  await terminal.press('C-c');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(130);
  expect(screen).toContain('Interrupted.');
});
