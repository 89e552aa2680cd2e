import { ConfigError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { requireTls } from '../../context/config.ts';
import type { Context } from '../../context/context.ts';
import { probeHarvesting } from '../../context/offered-profile.ts';
import { checkSettings, PROFILE_KEYS, type ProfileKey, type ProfileSettings } from '../../context/profile-settings.ts';
import { choose } from '../../ui/prompt.ts';

const QUESTIONS: readonly ProfileKey[] = ['base_url', 'oai_base', 'schema_base', 'kind', 'username', 'oai_auth'];
const ADDRESSES: readonly ProfileKey[] = ['base_url', 'oai_base'];

/** Asks for what is not given yet. Each answer is checked at once and asked for again, so that none is lost at the end. */
export async function askForRest(context: Context, given: ProfileSettings): Promise<ProfileSettings> {
  const prompt = await context.prompt();
  let settings = given;
  for (const key of QUESTIONS) {
    if (settings[key] !== undefined) continue;
    const { help, kind } = PROFILE_KEYS[key];
    const offered = key === 'schema_base' ? await offeredSchema(context, settings) : {};
    const message = `${help}:`;
    const answer =
      typeof kind === 'object'
        ? await choose(prompt, message, choices(key, kind))
        : await prompt.text({
            message,
            ...(offered.schema_base === undefined ? {} : { fallback: String(offered.schema_base) }),
            problemOf: async (text) => problemOf(key, text.trim(), settings),
          });
    if (answer.trim() !== '') settings = { ...settings, ...offered, ...checkSettings('pas init', { [key]: answer.trim() }) };
  }
  return settings;
}

/** The answer that is not written: `pas login` finds out how to sign in where the profile does not say it. */
const LEFT_TO_LOGIN = '';

/** The first is taken by Enter: what may be left out is left out. */
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

/** The root of the schemas and the prefix, where the harvesting interface shows them. */
async function offeredSchema(context: Context, { oai_base: oaiBase }: ProfileSettings): Promise<ProfileSettings> {
  if (oaiBase === undefined) return {};
  const { schemaBase, prefix, problem } = await probeHarvesting(context, String(oaiBase));
  if (problem !== undefined) context.terminal.note(t`The harvesting interface cannot be asked now: ${problem}`);
  if (schemaBase === undefined) return {};
  return { schema_base: schemaBase, ...(prefix === undefined || prefix === 'svc' ? {} : { prefix }) };
}
