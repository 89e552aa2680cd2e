import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The package names itself, so that sources, build and joined files find the same folder. */
const require = createRequire(import.meta.url);

/** Folder of pas's own package.json, which has `schemas/`. */
export const packageRoot = dirname(require.resolve('pas-finds/package.json'));

export function getPackageVersion(): string {
  const { version }: { readonly version: string } = require('pas-finds/package.json');
  return version;
}
