import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { parseToml } from '../store/toml.ts';
import { readInputFile } from '../tables/input-file.ts';
import { isProtected } from './config.ts';
import type { Context } from './context.ts';
import { checkSettings, isTable, type ProfileSettings } from './profile-settings.ts';

/** A profile has only a few lines. */
const MAX_PROFILE_BYTES = 64 * 1024;

/** Only the user may allow unprotected passwords in a network. */
const NOT_FOR_OTHERS = 'allow_http';

/**
 * Reads a profile from an institution: its keys alone, or one `[profiles.NAME]` as in config.toml.
 * @param from a file, or an https address, which may not redirect to another one
 * @throws ConfigError, FileError where it is invalid
 */
export async function fetchSharedProfile(context: Context, from: string): Promise<ProfileSettings> {
  const text = (/^https?:\/\//i.test(from) ? await fetched(context, from) : await readInputFile(from)).toString('utf8');
  let table: unknown;
  try {
    const read = parseToml(text);
    const profiles = isTable(read['profiles']) ? Object.values(read['profiles']) : [];
    table = profiles.length === 1 ? profiles[0] : read;
  } catch (thrown) {
    throw new ConfigError(t`${from} is no profile: it is not valid TOML.`, { cause: thrown });
  }
  const settings = checkSettings(from, table);
  if ('outbox' in settings)
    throw new ConfigError(t`${from} names an outbox, which belongs to one data home only.`, {
      hint: t`Take the key outbox out of it.`,
    });
  if (NOT_FOR_OTHERS in settings)
    throw new ConfigError(t`${from} asks for addresses without TLS.`, {
      hint: t`If the network is your own, say --allow-http yourself.`,
    });
  return settings;
}

async function fetched(context: Context, url: string): Promise<Buffer> {
  if (!isProtected(url, false))
    throw new ConfigError(t`${url} is not protected by TLS: the profile could be changed in transit.`);
  const { send } = await context.connections();
  const { status, body } = await send({ method: 'GET', url, answerTimeoutMs: 30_000, maxAnswerBytes: MAX_PROFILE_BYTES });
  if (status === 200) return body;
  throw new ConfigError(t`${url} answered with status ${status}, not with a profile.`);
}
