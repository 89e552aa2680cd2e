import type { HelpConfiguration, Option } from 'commander';
import { t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';

const HEADINGS: Readonly<Record<string, Message>> = {
  'Usage:': msg`Usage:`,
  'Arguments:': msg`Arguments:`,
  'Options:': msg`Options:`,
  'Commands:': msg`Commands:`,
};

/** Placeholders of values in usages and flags, such as `<file>`. An unknown word stays as it is. */
const PLACEHOLDERS: Readonly<Record<string, Message>> = {
  address: msg`address`,
  application: msg`application`,
  command: msg`command`,
  date: msg`date`,
  destination: msg`destination`,
  'element=value': msg`element=value`,
  entry: msg`entry`,
  file: msg`file`,
  find: msg`find`,
  'find-or-file': msg`find-or-file`,
  folder: msg`folder`,
  metres: msg`metres`,
  form: msg`form`,
  format: msg`format`,
  'from=to': msg`from=to`,
  identifier: msg`identifier`,
  answer: msg`answer`,
  kinds: msg`kinds`,
  profile: msg`profile`,
  language: msg`language`,
  list: msg`list`,
  name: msg`name`,
  number: msg`a number`,
  options: msg`options`,
  origins: msg`origins`,
  photo: msg`photo`,
  position: msg`position`,
  prefix: msg`prefix`,
  set: msg`set`,
  state: msg`state`,
  table: msg`table`,
  term: msg`term`,
  terms: msg`terms`,
  text: msg`text`,
  time: msg`time`,
  value: msg`value`,
  version: msg`version`,
};

/** Translates placeholders: `show [options] <find>` → `show [volby] <nález>` */
function withPlaceholders(text: string): string {
  return text.replace(
    /([<[])([a-z=-]+)((?:\.\.\.)?[>\]])/g,
    (_, open: string, word: string, close: string) => {
      return `${open}${PLACEHOLDERS[word] ?? word}${close}`;
    },
  );
}

export const HELP_TEXTS: HelpConfiguration = {
  styleTitle: (title) => String(HEADINGS[title] ?? title),
  styleUsage: withPlaceholders,
  styleOptionTerm: withPlaceholders,
  styleSubcommandTerm: withPlaceholders,
  optionDescription: (option) => {
    const extra = describeExtras(option).join(', ');
    return extra === '' ? option.description : `${option.description} (${extra})`;
  },
  argumentDescription: (argument) => {
    const choices = describeChoices(argument.argChoices).join(', ');
    return choices === '' ? argument.description : `${argument.description} (${choices})`;
  },
};

function describeChoices(argChoices: readonly string[] | undefined): string[] {
  if (argChoices === undefined) return [];
  const choices = argChoices.join(', ');
  return [t`choices: ${choices}`];
}

function describeExtras(option: Option): string[] {
  const extra = describeChoices(option.argChoices);
  const fallback: unknown = option.defaultValue;
  if (fallback !== undefined && (option.required || option.optional))
    extra.push(t`default: ${fallback}`);
  return extra;
}

/** Messages of commander, with the parts that come from the command line. */
const MESSAGES: readonly (readonly [RegExp, (...parts: readonly string[]) => string])[] = [
  [
    /^missing required argument '(.+)'$/,
    (word = '') => {
      const name = PLACEHOLDERS[word] ?? word;
      return t`Missing required argument '${name}'.`;
    },
  ],
  [
    /^option '(.+)' argument missing$/,
    (option = '') => {
      const flags = withPlaceholders(option);
      return t`The value of option '${flags}' is missing.`;
    },
  ],
  [
    /^required option '(.+)' not specified$/,
    (option = '') => {
      const flags = withPlaceholders(option);
      return t`Missing required option '${flags}'.`;
    },
  ],
  [
    /^option '(.+)' cannot be used with option '(.+)'$/,
    (one, other) => t`Option '${one}' cannot be used with option '${other}'.`,
  ],
  [/^unknown option '(.*)'$/s, (flag) => t`Unknown option '${flag}'.`],
  [/^unknown command '(.*)'$/s, (name) => t`Unknown command '${name}'.`],
  [
    /^too many arguments(?: for '(.+)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (_, most, count) => t`Too many arguments: ${count} given, at most ${most} expected.`,
  ],
  [
    /^option '([^']+)' argument '(.*)' is invalid\. (.*)$/s,
    (option = '', value = '', reason = '') => {
      const flags = withPlaceholders(option);
      const why = translateReason(reason);
      return t`The value '${value}' of option '${flags}' is invalid. ${why}`;
    },
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '([^']+)'\. (.*)$/s,
    (value = '', word = '', reason = '') => {
      const name = PLACEHOLDERS[word] ?? word;
      const why = translateReason(reason);
      return t`'${value}' is invalid for argument '${name}'. ${why}`;
    },
  ],
];

/** Messages of pas's own parsers are translated already. */
function translateReason(why: string): string {
  const choices = /^Allowed choices are (.*)\.$/.exec(why)?.[1];
  return choices === undefined ? why : t`Allowed choices are ${choices}.`;
}

/** Returns an error of commander as a sentence: `error: unknown option '--jsn'` */
export function translateCommanderError(text: string): string {
  const message = text.replace(/^error: /, '');
  for (const [pattern, say] of MESSAGES) {
    const parts = pattern.exec(message);
    if (parts !== null) return say(...parts.slice(1));
  }
  return message;
}
