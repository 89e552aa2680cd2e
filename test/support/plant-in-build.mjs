// node --import ./test/support/plant-in-build.mjs PROGRAM: loads one module of the build with a
// text in it replaced. PLANTED is JSON with `file` below dist, `from` and `to`.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url, { data: JSON.parse(process.env.PLANTED ?? '{}') });

/** @type {{ file: string, from: string, to: string }} */
let planted;

/** In the thread that loads modules. */
export function initialize(data) {
  planted = data;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith(`/dist/${planted.file}`)) return loaded;
  const text = String(loaded.source);
  if (text.split(planted.from).length !== 2)
    throw new Error(`"${planted.from}" does not stand once in ${planted.file}`);
  return { ...loaded, source: text.replace(planted.from, () => planted.to) };
}
