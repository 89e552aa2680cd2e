// Writes docs/reference.md and the man page from the definitions of the commands; with --check it
// only says what is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { EXIT_CODES } from '../dist/src/base/errors.js';
import { buildOutline, formatArgument } from '../dist/src/cli/command.js';
import { buildWholeProgram } from '../dist/src/cli/program.js';

const root = new URL('../', import.meta.url);
const { program, globalOptions } = buildOutline(await buildWholeProgram(process));

const words = (command, parents) => [...parents, command.name].join(' ');
const usage = (command, parents) =>
  [
    words(command, parents),
    ...(command.options.length > 0 ? ['[options]'] : []),
    ...command.arguments.map(formatArgument),
  ].join(' ');
const details = ({ choices, fallback, summary }) => {
  const more = [
    choices.length > 0 ? `one of ${choices.join(', ')}` : '',
    fallback === null ? '' : `default: ${fallback}`,
  ];
  const joined = more.filter((text) => text !== '').join('; ');
  return joined === '' ? summary : `${summary} (${joined})`;
};

// Markdown

const cell = (text) => text.replaceAll('<', '&lt;');
const flagList = (options) => [
  ...options.map((option) => `- \`${option.flags}\`: ${cell(details(option))}`),
  '',
];
const sameFlag = (one) => (other) => one.flags === other.flags && details(one) === details(other);

function section(command, parents, depth) {
  const heading = [`${'#'.repeat(depth)} ${words(command, parents)}`, '', command.summary, ''];
  if (command.commands.length > 0) {
    const [first, ...rest] = command.commands;
    const shared = first.options.filter((option) =>
      rest.every(({ options }) => options.some(sameFlag(option))),
    );
    const below = command.commands.flatMap((child) => {
      const ownOptions = child.options.filter((option) => !shared.some(sameFlag(option)));
      return section({ ...child, options: ownOptions }, [...parents, command.name], depth + 1);
    });
    return [
      ...heading,
      ...(shared.length > 0 ? ['Each of them takes', '', ...flagList(shared)] : []),
      ...below,
    ];
  }
  const called = command.arguments.length > 0 ? [`\`${usage(command, parents)}\``, ''] : [];
  const examples = command.examples.filter(
    (example) => example !== words(command, parents) && !example.endsWith('--json'),
  );
  return [
    ...heading,
    ...called,
    ...(command.options.length > 0 ? flagList(command.options) : []),
    ...(examples.length > 0 ? ['```sh', ...examples, '```', ''] : []),
  ];
}

const everywhere = [
  ...globalOptions,
  { flags: '-h, --help', summary: 'display help for command', choices: [], fallback: null },
];

const reference = [
  '# Reference',
  '',
  '<!-- Written by `npm run reference` from the definitions of the commands. Do not edit. -->',
  '',
  'Every command of `pas` with its flags and examples, as `pas COMMAND --help` shows it. [Exit codes](running.md#exit-codes) are on another page.',
  '',
  'Every command takes',
  '',
  ...flagList(everywhere),
  '`pas --version` prints the version.',
  '',
  ...program.commands.flatMap((command) => section(command, ['pas'], 2)),
].join('\n');

// The man page: man(7), each text escaped so that none is taken for a request.

const roff = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^(['.])/gm, '\\&$1');
const terms = (rows) =>
  rows.flatMap(([term, meaning]) => ['.TP', `.B ${roff(term)}`, roff(meaning)]);
const leaves = ({ name, commands }) =>
  commands.length === 0 ? name : `${name} ${commands.map((child) => child.name).join(' | ')}`;

/** The first of the sentences that help shows whole. */
const inBrief = (summary) => summary.replace(/(?<=[.:]) .*$/, '').replace(/:$/, '.');

const ENVIRONMENT = [
  ['PAS_HOME', 'the data folder; else $XDG_DATA_HOME/pas, else the default of the system'],
  ['PAS_PROFILE', 'the profile to use'],
  ['PAS_USERNAME, PAS_PASSWORD, PAS_TOKEN', 'the account, in place of what is kept'],
  ['PAS_PACING_PASSWORD', 'the password of the Redis that the profile names as pacing'],
  ['PAS_KEYRING', 'off: keep secrets in a file, not in the keyring'],
  ['PAS_LANG', 'the language, en or cs'],
  ['NO_COLOR', 'no colours'],
];
const FILES = [
  ['config.toml', 'profiles and defaults'],
  ['outboxes/NAME/outbox.sqlite', 'finds, what is queued and what was sent'],
  ['vocabulary.sqlite', 'harvested vocabularies'],
  ['mapping.csv', 'your own terms'],
  ['secrets.json', 'password and token, without a keyring'],
];

const manPage = [
  ...['.TH PAS 1 "" "pas" "pas"', '.SH NAME', `pas \\- ${roff(program.summary)}`],
  ...['.SH SYNOPSIS', '.B pas', roff('<command> [options]')],
  ...[
    '.SH DESCRIPTION',
    roff('pas COMMAND --help shows the arguments, flags and examples of a command.'),
  ],
  ...[
    '.SH COMMANDS',
    ...terms(program.commands.map((command) => [leaves(command), inBrief(command.summary)])),
  ],
  ...[
    '.SH FLAGS OF EVERY COMMAND',
    ...terms(everywhere.map((option) => [option.flags, details(option)])),
  ],
  ...['.SH ENVIRONMENT', ...terms(ENVIRONMENT)],
  ...['.SH FILES', 'In the data folder:', ...terms(FILES)],
  ...[
    '.SH EXIT STATUS',
    ...terms(Object.values(EXIT_CODES).map(([code, meaning]) => [String(code), String(meaning)])),
  ],
  ...['.SH SEE ALSO', 'docs/ in the package: tutorials, and every command with its flags.', ''],
].join('\n');

const pages = new Map([
  ['docs/reference.md', reference],
  ['man/pas.1', manPage],
]);
const readText = (path) =>
  existsSync(new URL(path, root)) ? readFileSync(new URL(path, root), 'utf8') : undefined;
const stale = [...pages].filter(([path, text]) => readText(path) !== text).map(([path]) => path);

if (!process.argv.includes('--check'))
  for (const path of stale) writeFileSync(new URL(path, root), pages.get(path));
else if (stale.length > 0) {
  process.stderr.write(`Stale: ${stale.join(', ')}. Run npm run reference.\n`);
  process.exitCode = 1;
}
