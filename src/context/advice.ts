import { shellWord } from '../base/shell-word.ts';
import type { ConfigFile, Profile } from './config.ts';
import type { Environment } from './places.ts';

type Situation = { readonly environment: Environment; config(): ConfigFile; profile(): Profile };

/**
 * What a command must have added to act on the profile of this one: ` --profile NAME`, or nothing where that profile is the one that
 * is used anyway. What PAS_PROFILE says may be said for this command alone, so both that and the configured one must be it.
 */
export function profileFlag({ config, environment, profile }: Situation): string {
  const { name } = profile();
  const { defaultProfile, profiles } = config();
  const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
  const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
  return isUsedAnyway ? '' : ` --profile ${shellWord(name)}`;
}

/** The commands, as texts name them, that act on a profile. */
const COMMAND_WITH_PROFILE = new RegExp(
  `\\bpas (?:${[
    '(?:photo|number|schema|oai|vocab(?: map)?) [a-z]+',
    'login|logout|whoami|harvest-vocab|harvest|add|import|list|show|edit|remove|validate|build|export',
    'push|pull|status|reconcile|resolve|report|doctor|pace',
  ].join('|')})(?![\\w-])`,
  'g',
);
const END_OF_COMMAND = /[`\n]|\bpas /;

/**
 * Makes the commands that a text for people advises act on the profile of this one: "run pas reconcile K-1" becomes
 * "run pas reconcile --profile museum K-1" where that takes the flag. So nothing that writes such a text has to know the profile.
 */
export function makeAdvice(situation: Situation): (text: string) => string {
  let flag: string | undefined;
  return (text) =>
    text.replace(COMMAND_WITH_PROFILE, (command: string, offset: number) => {
      const after = text.slice(offset + command.length);
      if (/ --profile\b/.test(after.split(END_OF_COMMAND, 1)[0] ?? '')) return command;
      flag ??= flagOrNone(situation);
      return `${command}${flag}`;
    });
}

/** Where there is no profile to speak of, that is what the text is about. */
function flagOrNone(situation: Situation): string {
  try {
    return profileFlag(situation);
  } catch {
    return '';
  }
}
