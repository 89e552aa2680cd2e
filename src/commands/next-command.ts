import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Profile } from '../config.ts';
import type { Context } from '../context.ts';
import type { Entry } from '../outbox/entry.ts';

/**
 * What a command must have added to act on the profile of this one: ` --profile NAME`, or nothing where that profile is the one that
 * is used anyway. What PAS_PROFILE says may be said for this command alone, so both that and the configured one must be it.
 */
export function profileFlag({ config, environment, profile }: Pick<Context, 'config' | 'environment' | 'profile'>): string {
  const { name } = profile();
  const { defaultProfile, profiles } = config();
  const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
  const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
  return isUsedAnyway ? '' : ` --profile ${shellWord(name)}`;
}

/** What sends finds of other profiles to this one's service as well. */
export function copyCommand({ kind, name }: Profile): string {
  return `pas push --profile ${shellWord(name)}${kind === 'production' ? ' --copy' : ''}`;
}

/** What comes after something was queued. */
export function adviseSending(context: Context): void {
  const flag = profileFlag(context);
  context.terminal.note(t`Next: \`pas status${flag}\`, then \`pas push${flag}\` when there is a network.`);
}

/**
 * The command that takes an entry on that waits for a person. A record may have several photographs, of which some are
 * there and some are not: each is decided by itself.
 * @param flag from {@link profileFlag}
 */
export function commandFor(entry: Entry, flag: string): string {
  const find = `${shellWord(entry.localId ?? entry.identCely ?? '')}${flag}`;
  const only = entry.kind === 'import' ? '' : ` --entry ${entry.id}`;
  switch (entry.state) {
    case 'uncertain':
      return `pas resolve ${find}${only} --created ${entry.kind === 'import' ? 'IDENT' : entry.identCely} | --resend | --drop`;
    case 'refused':
      return entry.kind === 'import' ? `pas edit ${find}` : `pas resolve ${find}${only} --resend | --drop`;
    case 'draft':
      return `pas edit ${find}`;
    default:
      return `pas show ${find}`;
  }
}
