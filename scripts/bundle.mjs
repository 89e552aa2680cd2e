// Joins the modules of `pas` into few files, dist/pas: Node loads one file faster than a hundred.
import { readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { rolldown } from 'rolldown';

const DIST = join(import.meta.dirname, '..', 'dist');
/** Packages of every command. Others are loaded from where they are installed. */
const JOINED = /^(?:chalk|commander|smol-toml)$/;
/**
 * Files and the modules whose static imports each of them holds; a module is in the first that
 * needs it.
 */
const FILES = {
  start: ['cli/start'],
  main: ['cli/main'],
  outbox: [
    'cli/context/make-context',
    'cli/context/profile-outbox',
    'cli/commands/status',
    'cli/commands/list',
  ],
};

/** @type {Map<string, string>} */
const fileByUrl = new Map();
const bundle = await rolldown({
  input: join(DIST, 'src', 'cli', 'start.js'),
  platform: 'node',
  external: (name) => !/^[.#]/.test(name) && !isAbsolute(name) && !JOINED.test(name),
  checks: { ineffectiveDynamicImport: false },
  plugins: [
    {
      name: 'files',
      buildEnd() {
        const add = (/** @type {string} */ id, /** @type {string} */ file) => {
          if (fileByUrl.has(id)) return;
          fileByUrl.set(id, file);
          for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported, file);
        };
        for (const [file, modules] of Object.entries(FILES))
          for (const each of modules) add(join(DIST, 'src', `${each}.js`), file);
      },
      renderChunk: withModulesLater,
    },
  ],
});
rmSync(join(DIST, 'pas'), { recursive: true, force: true });
const { output } = await bundle.write({
  dir: join(DIST, 'pas'),
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  comments: { legal: true, annotation: false, jsdoc: false },
  codeSplitting: {
    groups: [
      ...Object.keys(FILES).map((file) => ({
        name: file,
        test: (/** @type {string} */ id) => fileByUrl.get(id) === file,
      })),
      { name: 'shared', minShareCount: 5 },
    ],
  },
});
/**
 * Loads a module of Node, or a package, when it is used first: a command uses few of those that its
 * modules name.
 */
function withModulesLater(/** @type {string} */ code) {
  const named = [...code.matchAll(/^let (\w+) = require\("[^."][^"]*"\);$/gm)].map(
    ([, name]) => name,
  );
  return named.reduce((text, name) => {
    const isWhole = new RegExp(`\\b${name}\\b(?!\\.| = require)`).test(text);
    if (isWhole) return text;
    const once =
      'const loaded = $1; Object.defineProperty(this, "loaded", { value: loaded }); return loaded;';
    return text
      .replace(new RegExp(`\\b${name}\\.`, 'g'), `${name}.loaded.`)
      .replace(
        new RegExp(`^let ${name} = (require\\(.*\\));$`, 'm'),
        `const ${name} = { get loaded() { ${once} } };`,
      );
  }, code);
}

const { dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(DIST, '..', 'package.json'), 'utf8'),
);
const installed = Object.keys({ ...dependencies, ...optionalDependencies });
const strays = output
  .flatMap((file) => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : []))
  .filter(
    (name) =>
      !isBuiltin(name) &&
      !name.endsWith('.cjs') &&
      !installed.some((each) => `${name}/`.startsWith(`${each}/`)),
  );
if (strays.length > 0)
  throw new Error(`joined files need what is not installed with pas: ${strays.join(', ')}`);
