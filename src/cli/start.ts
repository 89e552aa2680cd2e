import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { chooseLanguage, setLanguage } from '../base/message.ts';
import type { Runtime } from './context/context.ts';
import { type Environment, makeDataPaths, readStoredLanguage } from './context/places.ts';

export { t } from '../base/message.ts';

/**
 * Chooses the language, runs a command line in it, and returns the exit code. Some texts are made
 * while modules load, so most modules are loaded after the choice.
 * @param args words after `pas`
 */
export async function startCommandLine(args: readonly string[], runtime: Runtime): Promise<number> {
  setLanguage(
    chooseLanguage(args, runtime.environment, () => readStoredLanguage(runtime.environment)),
  );
  cacheCompiledCode(runtime.environment);
  const { runCommandLine } = await import('./main.ts');
  return runCommandLine(args, runtime);
}

/**
 * Sets the cache of compiled modules (Node 22.1 and later) in the state folder, unless that is
 * missing or read-only.
 */
function cacheCompiledCode(environment: Environment): void {
  const { enableCompileCache } = module as {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  const state = dirname(makeDataPaths(environment).paceFile);
  if (existsSync(state)) enableCompileCache?.(join(state, 'compiled'));
}
