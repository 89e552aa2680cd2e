/**
 * npm run image [-- TARGET…]: of each Linux archive in release/ (npm run release) an OCI image of
 * the mock server, also into release/. Needs no daemon and no root, but a Debian: Node wants a C
 * and a C++ library, and those are Debian's. The image has no shell. The same archive and the same
 * packages of Debian give the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** @type {Record<string, { architecture: string, triplet: string, loader: string }>} */
const TARGETS = {
  'linux-x64': { architecture: 'amd64', triplet: 'x86_64-linux-gnu', loader: 'lib64' },
  'linux-arm64': { architecture: 'arm64', triplet: 'aarch64-linux-gnu', loader: 'lib' },
};
/** Libraries that Node and its native modules are linked with. */
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6'];
const PORT = 8080;
/**
 * User id without other rights on any machine. The caller may choose another one: writable folders
 * are open to all.
 */
const USER = 65532;
const NODE = '/opt/pas/runtime/node';
const HEALTH = `fetch('http://127.0.0.1:${PORT}/__mock__/health').then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))`;
const SECOND_NS = 1e9;

// The umask of the caller does not decide the permissions of packed files.
process.umask(0o022);
const root = resolve(import.meta.dirname, '..');
const out = join(root, 'release');
const { version, license, description } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const commitTime = Number(run('git', ['log', '-1', '--format=%ct'], root));
const created = new Date(commitTime * 1000).toISOString();
const work = mkdtempSync(join(tmpdir(), 'pas-image-'));

try {
  const targets = Object.keys(TARGETS);
  const existing = existsSync(out) ? readdirSync(out) : [];
  const wanted =
    process.argv.length > 2
      ? process.argv.slice(2)
      : targets.filter((target) => existing.includes(getArchive(target)));
  const unknown = wanted.find((target) => !targets.includes(target));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${targets.join(', ')}`);
  const missing =
    wanted.length === 0
      ? targets
      : wanted.filter((target) => !existing.includes(getArchive(target)));
  if (missing.length > 0)
    throw new Error(
      `release/ has no ${missing.map(getArchive).join(', ')}: npm run release makes them`,
    );
  for (const target of wanted) makeImage(target);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @param {string} target */
function getArchive(target) {
  return `pas-${version}-${target}.tar.xz`;
}

/** @param {string} target */
function makeImage(target) {
  const { architecture } = TARGETS[target];
  const layout = join(work, target, 'layout');
  mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true });
  const layers = makeLayers(target, layout);
  const config = blob(
    layout,
    JSON.stringify(makeConfig(architecture, layers)),
    'application/vnd.oci.image.config.v1+json',
  );
  writeIndex(layout, architecture, config, layers);
  const file = `pas-mock-${version}-${architecture}-oci.tar`;
  pack(layout, readdirSync(layout), join(out, file));
  const bytes = readFileSync(join(out, file));
  writeFileSync(join(out, `${file}.sha256`), `${sha256(bytes)}  ${file}\n`);
  process.stdout.write(`${file}: ${(bytes.length / 1e6).toFixed(1)} MB, ${sha256(bytes)}\n`);
}

/** The layer that changes least is the lowest, so that the next version reuses it. */
function makeLayers(target, layout) {
  const base = join(work, target, 'base');
  const program = join(work, target, 'program');
  for (const folder of [base, join(program, 'opt')]) mkdirSync(folder, { recursive: true });
  run('sha256sum', ['--quiet', '-c', `${getArchive(target)}.sha256`], out);
  run('tar', ['-xJf', join(out, getArchive(target)), '-C', join(program, 'opt')], root);
  renameSync(join(program, 'opt', `pas-${version}-${target}`), join(program, 'opt', 'pas'));
  layBase(base, target);
  const ownFiles = ['app', 'LICENSES.txt', 'sbom.json', 'pas-mock-server'];
  return [
    layer(layout, base, readdirSync(base), 'libraries of Debian'),
    layer(layout, program, ['opt/pas/runtime'], 'Node'),
    layer(
      layout,
      program,
      ownFiles.map((name) => `opt/pas/${name}`),
      'the program',
    ),
  ];
}

function writeIndex(layout, architecture, config, layers) {
  const manifest = blob(
    layout,
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config,
      layers: layers.map(({ descriptor }) => descriptor),
    }),
    'application/vnd.oci.image.manifest.v1+json',
  );
  // No registry has this name, so that no foreign image is fetched.
  const name = `localhost/pas-mock:${version}`;
  const annotations = {
    'io.containerd.image.name': name,
    'org.opencontainers.image.ref.name': name,
  };
  const entry = { ...manifest, platform: { os: 'linux', architecture }, annotations };
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(
    join(layout, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [entry],
    }),
  );
  // File that `docker load` reads where it does not know the layout.
  const getPath = ({ digest }) => `blobs/${digest.replace(':', '/')}`;
  const forDocker = [
    {
      Config: getPath(config),
      RepoTags: [name],
      Layers: layers.map(({ descriptor }) => getPath(descriptor)),
    },
  ];
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify(forDocker));
}

/**
 * The libraries with their licences and what Debian says of them, a name for the user, and two
 * folders that can be written to.
 */
function layBase(base, target) {
  const { architecture, triplet, loader } = TARGETS[target];
  const unpacked = join(work, target, 'debian');
  for (const file of fetchPackages(architecture, join(work, target, 'apt'))) {
    run('dpkg-deb', ['--extract', file, unpacked], root);
    const about = run('dpkg-deb', ['--field', file], root);
    const [, name = ''] = /^Package: (.+)$/m.exec(about) ?? [];
    mkdirSync(join(base, 'var/lib/dpkg/status.d'), { recursive: true });
    writeFileSync(join(base, 'var/lib/dpkg/status.d', name), about);
    // The licence, or a link to the folder of the package that has it.
    const notice = join('usr/share/doc', name);
    const path = lstatSync(join(unpacked, notice)).isSymbolicLink()
      ? notice
      : join(notice, 'copyright');
    cpSync(join(unpacked, path), join(base, path), { verbatimSymlinks: true });
  }
  const taken = [
    ...readdirSync(join(unpacked, 'lib', triplet)).map((name) => join('lib', triplet, name)),
    ...readdirSync(join(unpacked, loader))
      .filter((name) => name.startsWith('ld-'))
      .map((name) => join(loader, name)),
    ...readdirSync(join(unpacked, 'usr/lib', triplet)).map((name) =>
      join('usr/lib', triplet, name),
    ),
  ];
  for (const path of taken.filter((name) => /\.so[\d.]*$/.test(name)))
    cpSync(join(unpacked, path), join(base, path), { verbatimSymlinks: true });
  mkdirSync(join(base, 'etc'));
  writeFileSync(
    join(base, 'etc/passwd'),
    `root:x:0:0:root:/:/nologin\nmock:x:${USER}:${USER}:mock:/data:/nologin\n`,
  );
  writeFileSync(join(base, 'etc/group'), `root:x:0:\nmock:x:${USER}:\n`);
  for (const name of ['tmp', 'data']) {
    mkdirSync(join(base, name));
    chmodSync(join(base, name), 0o1777);
  }
}

/**
 * By apt's own sources and keys, whatever machine the packages are for, and without a trace in
 * apt's state.
 */
function fetchPackages(architecture, folder) {
  mkdirSync(join(folder, 'state/lists/partial'), { recursive: true });
  mkdirSync(join(folder, 'cache/archives/partial'), { recursive: true });
  writeFileSync(join(folder, 'status'), '');
  const aptOptions = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Dir::State': join(folder, 'state'),
  };
  const more = {
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': 'root',
  };
  const flags = Object.entries({ ...aptOptions, ...more }).flatMap(([name, value]) => [
    '-o',
    `${name}=${value}`,
  ]);
  run('apt-get', ['-qq', ...flags, 'update'], folder);
  run('apt-get', ['-qq', ...flags, 'download', ...LIBRARIES], folder);
  const fetched = () => readdirSync(folder).filter((name) => name.endsWith('.deb'));
  // Its name has the compiler's version; the licences of the compiler's libraries are in it.
  const [licences = ''] = fetched().flatMap(
    (name) => /gcc-\d+-base/.exec(run('dpkg-deb', ['--field', name, 'Depends'], folder)) ?? [],
  );
  run('apt-get', ['-qq', ...flags, 'download', licences], folder);
  if (fetched().length !== LIBRARIES.length + 1)
    throw new Error(
      `of ${LIBRARIES.join(', ')} apt has only ${fetched().join(', ')} for ${architecture}`,
    );
  return fetched()
    .sort()
    .map((name) => join(folder, name));
}

function makeConfig(architecture, layers) {
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { [`${PORT}/tcp`]: {} },
      Env: ['PATH=/opt/pas/runtime', 'HOME=/data'],
      Entrypoint: [
        NODE,
        '/opt/pas/app/bin/pas-mock-server.js',
        '--host',
        '0.0.0.0',
        '--port',
        String(PORT),
      ],
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'pas-mock',
        'org.opencontainers.image.description': description,
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': license,
      },
      // Docker's own: other runtimes read past it.
      Healthcheck: {
        Test: ['CMD', NODE, '-e', HEALTH],
        Interval: 2 * SECOND_NS,
        Timeout: 2 * SECOND_NS,
        StartPeriod: 10 * SECOND_NS,
        Retries: 5,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ title }) => ({ created, created_by: title })),
  };
}

/** Everything belongs to root, so that the program cannot change itself. */
function layer(layout, folder, names, title) {
  const file = join(work, 'layer.tar');
  pack(folder, names, file);
  const diffId = `sha256:${sha256(readFileSync(file))}`;
  const bytes = execFileSync('gzip', ['-n', '-6', '-c', file], { maxBuffer: 1 << 29 });
  return {
    title,
    diffId,
    descriptor: blob(layout, bytes, 'application/vnd.oci.image.layer.v1.tar+gzip'),
  };
}

function pack(folder, names, file) {
  const order = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=ustar',
    `--mtime=@${commitTime}`,
  ];
  run('tar', [...order, '-cf', file, '-C', folder, ...[...names].sort()], root);
}

function blob(layout, content, mediaType) {
  const digest = sha256(content);
  writeFileSync(join(layout, 'blobs', 'sha256', digest), content);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(content) };
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function run(program, args, cwd) {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
