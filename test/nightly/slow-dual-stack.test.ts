import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();

const { status } = spawnSync('unshare', ['-n', '-m', 'test', '-c', '/dev/net/tun']);

/** In a network of its own: a name with two addresses, of which IPv6 has no route. */
const SCENE = `set -e
mount --bind "$1/hosts" /etc/hosts
: > "$1/started"
python3 "$2/delayed_network.py" > "$1/started" &
trap 'kill $!' EXIT
until grep -q ready "$1/started"; do sleep 0.1; done
"$3" "$1/request.mjs"`;

const REQUEST = `import { createServer } from 'node:http';
import { openConnections } from '${join(import.meta.dirname, '../../dist/src/service/http/send.js')}';
const server = createServer((_, response) => response.end('here'));
await new Promise((listening) => server.listen(8080, '10.9.0.1', listening));
const { send } = openConnections({ maxConnections: 1 });
const { body } = await send({ method: 'GET', url: 'http://slow.test:8080/' });
console.log(String(body));
process.exit();`;

test.skipIf(status !== 0)(
  'a host with two addresses is reached over a round trip of a second, though IPv6 has no route',
  () => {
    writeFileSync(join(folder, 'hosts'), '10.9.0.2 slow.test\n2001:db8::1 slow.test\n');
    writeFileSync(join(folder, 'request.mjs'), REQUEST);
    const args = ['-n', '-m', 'sh', '-c', SCENE, 'sh', folder, import.meta.dirname];
    const run = spawnSync('unshare', [...args, process.execPath], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout).toBe('here\n');
  },
);
