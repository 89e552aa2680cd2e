// Joins the modules of `pas` into few files, dist/pas: Node loads one file faster than a hundred.
import { readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const DIST = join(import.meta.dirname, '..', 'dist');
/** Packages of every command. Others are loaded from where they are installed. */
const JOINED = /^(?:chalk|commander|smol-toml)$/;
/**
 * Files and the modules whose static imports each of them holds; a module is in the first that
 * needs it, unless it is named for a file of {@link LATER}.
 */
const FILES = {
  main: ['cli/main'],
  program: ['cli/program'],
  outbox: [
    'cli/context/make-context',
    'cli/context/profile-outbox',
    'cli/commands/status',
    'cli/commands/list',
  ],
  later: [
    'base/disk/database-file',
    'base/disk/lock-file',
    'base/disk/output-file',
    'base/names',
    'base/xml/element',
    'finds/harvested-find',
    'finds/match-finds',
    'finds/person-name',
    'finds/place/areas',
    'finds/place/geometry',
    'finds/place/read-position',
    'finds/vocabulary/terms',
    'outbox/attempts',
    'outbox/cache',
    'outbox/changes/content-store',
    'outbox/fold',
    'outbox/gate',
    'outbox/push-lock',
    'push/uncertain-words',
    'service/http/exchange',
    'service/http/masking',
    'service/http/pace-store',
    'service/http/pacer',
    'service/http/proxy',
    'service/http/redis-pace-store',
    'service/http/request-body',
  ],
  colours: ['chalk'],
};
/**
 * Files that are loaded when the first of their functions is called: `status` and `list` import
 * their modules, and run nothing of them.
 */
const LATER = ['later', 'colours'];
const locate = (/** @type {string} */ name) =>
  JOINED.test(name) ? fileURLToPath(import.meta.resolve(name)) : join(DIST, 'src', `${name}.js`);
const later = [...FILES.later, ...FILES.colours].map(locate);

/** @type {Map<string, string>} */
const fileByUrl = new Map();
const bundle = await rolldown({
  input: join(DIST, 'src', 'cli', 'main.js'),
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  external: (name) => !/^[.#]/.test(name) && !isAbsolute(name) && !JOINED.test(name),
  checks: { ineffectiveDynamicImport: false },
  plugins: [
    {
      name: 'files',
      buildEnd() {
        const add = (/** @type {string} */ id, /** @type {string} */ file) => {
          if (fileByUrl.has(id) || (!LATER.includes(file) && later.includes(id))) return;
          fileByUrl.set(id, file);
          const info = this.getModuleInfo(id);
          if (info === null)
            throw new Error(`scripts/bundle.mjs names ${id}, which does not exist`);
          for (const imported of info.importedIds) add(imported, file);
        };
        for (const [file, names] of Object.entries(FILES))
          for (const id of names.map(locate)) add(id, file);
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
    includeDependenciesRecursively: false,
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
 * Loads a module of Node, a package, or a file of {@link LATER} when it is used first: a command uses few
 * of those that its modules name.
 */
function withModulesLater(/** @type {string} */ code) {
  // commander loads child_process, which it uses for commands in other files, within a function.
  const required =
    /^(?:let|const|\tconst(?= childProcess\b)) (\w+) = require\("(?:[^."][^"]*|\.\/(?:later|colours)-[^"]*)"\);$/gm;
  const named = [...code.matchAll(required)].map(([, name]) => name);
  return named.reduce((text, name) => {
    const isWhole = new RegExp(`\\b${name}\\b(?!\\.| = require)`).test(text);
    if (isWhole) return text;
    const once =
      'const loaded = $1; Object.defineProperty(this, "loaded", { value: loaded }); return loaded;';
    return text
      .replace(new RegExp(`\\b${name}\\.`, 'g'), `${name}.loaded.`)
      .replace(
        new RegExp(`^\\t?(?:let|const) ${name} = (require\\(.*\\));$`, 'm'),
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
