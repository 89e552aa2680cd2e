import { ConfigError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { requireTls } from '../../context/config.ts';
import type { Context } from '../../context/context.ts';
import { checkSettings, PROFILE_KEYS, type ProfileKey, type ProfileSettings } from '../../context/profile-settings.ts';
import { choose } from '../../ui/prompt.ts';

const QUESTIONS: readonly ProfileKey[] = ['base_url', 'oai_base', 'schema_base', 'kind', 'username'];
const ADDRESSES: readonly ProfileKey[] = ['base_url', 'oai_base'];

/** Asks for the address of the service. */
export async function askForAddress(context: Context): Promise<string> {
  const prompt = await context.prompt();
  const problem = async (text: string) => (text.trim() === '' ? t`This is needed.` : undefined);
  return prompt.text({ message: t`address of the service:`, problemOf: problem });
}

/** Asks for missing settings. Each answer is checked at once, and asked again if it is invalid. */
export async function askForRest(context: Context, given: ProfileSettings): Promise<ProfileSettings> {
  const prompt = await context.prompt();
  let settings = given;
  for (const key of QUESTIONS) {
    if (settings[key] !== undefined) continue;
    const { help, kind } = PROFILE_KEYS[key];
    const message = `${help}:`;
    const answer =
      typeof kind === 'object'
        ? await choose(prompt, message, choices(key, kind))
        : await prompt.text({
            message,
            problemOf: async (text) => problemOf(key, text.trim(), settings),
          });
    if (answer.trim() !== '') settings = { ...settings, ...checkSettings('pas init', { [key]: answer.trim() }) };
  }
  return settings;
}

/** Choice that is not stored: `pas login` finds out how to authenticate. */
const LEFT_TO_LOGIN = '';

/** Enter takes the first choice: an optional setting is left out. */
function choices(key: ProfileKey, kind: readonly string[]) {
  const all = 'required' in PROFILE_KEYS[key] ? [...kind].reverse() : kind;
  return all.map((value) =>
    key === 'oai_auth' && value === 'none'
      ? { value: LEFT_TO_LOGIN, name: t`none, until pas login finds out that the account is taken` }
      : { value, name: value },
  );
}

function problemOf(key: ProfileKey, text: string, { allow_http: allowHttp }: ProfileSettings): string | undefined {
  if (text === '') return 'required' in PROFILE_KEYS[key] ? t`This is needed.` : undefined;
  try {
    const { [key]: value } = checkSettings('pas init', { [key]: text });
    if (ADDRESSES.includes(key)) requireTls('pas init', String(value), allowHttp === true);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof ConfigError) return [thrown.message, thrown.hint].filter((part) => part !== undefined).join(' ');
    throw thrown;
  }
}
