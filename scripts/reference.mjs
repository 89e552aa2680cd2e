// Writes docs/reference.md and the man pages from the definitions of the commands; with --check it only says what is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES } from '../dist/src/base/errors.js';
import { argumentText, outlineOf } from '../dist/src/commands/outline.js';
import { buildWholeProgram } from '../dist/src/commands/program.js';

const root = new URL('../', import.meta.url);
const { program, globalOptions } = outlineOf(await buildWholeProgram(process));
const exitCodes = Object.values(EXIT_CODES);

const words = (command, parents) => [...parents, command.name].join(' ');
const usage = (command, parents) => [words(command, parents), '[options]', ...command.arguments.map(argumentText)].join(' ');
const details = ({ choices, fallback, summary }) => {
  const more = [choices.length > 0 ? `one of ${choices.join(', ')}` : '', fallback === null ? '' : `default: ${fallback}`];
  const said = more.filter((text) => text !== '').join('; ');
  return said === '' ? summary : `${summary} (${said})`;
};

// Markdown

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const optionTable = (options) => [
  '| flag | meaning |',
  '|---|---|',
  ...options.map((option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${cell(details(option))} |`),
  '',
];

function section(command, parents, depth) {
  const heading = `${'#'.repeat(depth)} ${words(command, parents)}`;
  if (command.commands.length > 0) {
    const below = command.commands.flatMap((child) => section(child, [...parents, command.name], depth + 1));
    return [heading, '', command.summary, '', ...below];
  }
  return [
    heading,
    '',
    command.summary,
    '',
    '```text',
    usage(command, parents),
    '```',
    '',
    ...(command.options.length > 0 ? optionTable(command.options) : []),
    '```text',
    ...command.examples.map((example) => `$ ${example}`),
    '```',
    '',
  ];
}

const reference = [
  '# Reference',
  '',
  '<!-- Written by `npm run reference` from the definitions of the commands. Do not edit. -->',
  '',
  'Every command of `pas`, as `pas COMMAND --help` shows it. The same stands in the man pages (`man pas`, `man pas-push`).',
  '',
  ...program.commands.map(({ name, summary }) => `- [\`pas ${name}\`](#pas-${name}): ${cell(summary)}`),
  '',
  '## Flags of every command',
  '',
  ...optionTable([...globalOptions, { flags: '-h, --help', summary: 'display help for command', choices: [], fallback: null }]),
  '`pas --version` prints the version.',
  '',
  ...program.commands.flatMap((command) => section(command, ['pas'], 2)),
  '## Exit codes',
  '',
  '| code | meaning |',
  '|---|---|',
  ...exitCodes.map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
  '',
].join('\n');

// Man pages: man(7), each text escaped so that none is taken for a request.

const roff = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^(['.])/gm, '\\&$1');
const optionList = (options) => options.flatMap((option) => ['.TP', `.B ${roff(option.flags)}`, roff(details(option))]);
const exampleList = (examples) => examples.flatMap((example) => ['.PP', '.RS 4', '.nf', `$ ${roff(example)}`, '.fi', '.RE']);

function manPage(name, summary, body) {
  const lines = [`.TH ${name.toUpperCase()} 1 "" "pas" "pas"`, '.SH NAME', `${roff(name)} \\- ${roff(summary)}`, ...body];
  return `${lines.join('\n')}\n`;
}

function manSections(command, parents, isWhole) {
  const full = words(command, parents);
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => manSections(child, [...parents, command.name], false));
  const synopsis = [`.B ${roff(full)}`, roff(usage(command, parents).slice(full.length + 1))];
  if (isWhole) {
    return [
      ...['.SH SYNOPSIS', ...synopsis],
      ...(command.options.length > 0 ? ['.SH OPTIONS', ...optionList(command.options)] : []),
      ...['.SH EXAMPLES', ...exampleList(command.examples)],
    ];
  }
  return [
    `.SH ${roff(full)}`,
    roff(command.summary),
    '.PP',
    ...synopsis,
    ...optionList(command.options),
    ...exampleList(command.examples),
  ];
}

const ending = [
  ...['.SH EXIT STATUS', ...exitCodes.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(meaning)])],
  ...['.SH SEE ALSO', '.BR pas (1);', 'docs/ in the package, with tutorials and the whole reference.'],
];
const everywhere = ['.SH FLAGS OF EVERY COMMAND', ...optionList(globalOptions)];

const mainPage = manPage('pas', program.summary, [
  ...['.SH SYNOPSIS', '.B pas', roff('<command> [options]')],
  ...['.SH COMMANDS'],
  ...program.commands.flatMap(({ name, summary }) => ['.TP', `.BR ${roff(`pas-${name}`)} (1)`, roff(summary)]),
  ...everywhere,
  ...['.SH ENVIRONMENT'],
  ...[
    ['PAS_HOME', 'where profiles, outbox, vocabularies and photographs are kept'],
    ['PAS_PROFILE', 'the profile to use'],
    ['PAS_USERNAME, PAS_PASSWORD, PAS_TOKEN', 'the account, in place of what is kept'],
    ['PAS_LANG', 'the language, en or cs'],
    ['NO_COLOR', 'no colours'],
  ].flatMap(([name, meaning]) => ['.TP', `.B ${name}`, roff(meaning)]),
  ...ending,
]);
/** @type {[string, string][]} */
const manPages = program.commands.map((command) => {
  const body = [...manSections(command, ['pas'], true), ...everywhere, ...ending];
  return [`man/pas-${command.name}.1`, manPage(`pas-${command.name}`, command.summary, body)];
});
const pages = new Map([['docs/reference.md', reference], ['man/pas.1', mainPage], ...manPages]);

// The manifest names the pages one by one, since that is all that npm links.

const manifestPath = new URL('package.json', root);
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
manifest.man = [...pages.keys()].filter((path) => path.startsWith('man/')).map((path) => `./${path}`);
pages.set('package.json', `${JSON.stringify(manifest, null, 2)}\n`);

const textOf = (path) => (existsSync(new URL(path, root)) ? readFileSync(new URL(path, root), 'utf8') : undefined);
mkdirSync(new URL('man', root), { recursive: true });
const gone = readdirSync(new URL('man', root)).filter((name) => !pages.has(`man/${name}`));
const stale = [...pages].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);

if (process.argv.includes('--check')) {
  const wrong = [...stale, ...gone.map((name) => `man/${name}`)];
  if (wrong.length > 0) {
    process.stderr.write(`Stale: ${wrong.join(', ')}. Run npm run reference.\n`);
    process.exitCode = 1;
  }
} else {
  for (const path of stale) writeFileSync(new URL(path, root), pages.get(path));
  for (const name of gone) rmSync(fileURLToPath(new URL(`man/${name}`, root)));
}
