import { languageFrom, setLanguage } from './base/language.ts';
import type { Runtime } from './context/context.ts';
import { storedLanguage } from './context/places.ts';

export { t } from './base/language.ts';

/** Runs a command line. Some texts are made while modules load, so the language is chosen before most of them are. */
export async function start(args: readonly string[], world: Runtime): Promise<number> {
  await setLanguage(languageFrom(args, world.environment, () => storedLanguage(world.environment)));
  const { main } = await import('./main.ts');
  return main(args, world);
}
