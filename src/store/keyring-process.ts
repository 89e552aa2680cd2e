import { readFileSync, writeFileSync } from 'node:fs';
import { AsyncEntry } from '@napi-rs/keyring';
import type { KeyringAnswer, KeyringRequest } from './keyring.ts';

/**
 * A process of its own that does one thing with the system's keyring: request as JSON on stdin, answer as JSON on stdout.
 * A keyring is native code that may wait for a service or a person for ever; here its caller can give it up.
 */
const request = JSON.parse(readFileSync(0, 'utf8')) as KeyringRequest;
writeFileSync(1, JSON.stringify(await answer(request)));

async function answer({ action, service, account, secret }: KeyringRequest): Promise<KeyringAnswer> {
  try {
    // Linux falls back to the kernel's keyring, which forgets everything when the machine restarts: not wanted.
    const entry = new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
    switch (action) {
      case 'read':
        return { ok: true, secret: (await entry.getPassword()) ?? null };
      case 'write':
        await entry.setPassword(secret ?? '');
        return { ok: true, secret: null };
      case 'remove':
        await entry.deletePassword();
        return { ok: true, secret: null };
    }
  } catch (thrown) {
    return { ok: false, message: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
