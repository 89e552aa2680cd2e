import { readFileSync, writeFileSync } from 'node:fs';
import { AsyncEntry } from '@napi-rs/keyring';
import type { KeyringAnswer, KeyringRequest } from './secrets.ts';

/**
 * Process for one action on the system's keyring: request as JSON on stdin, answer as JSON on
 * stdout. A keyring is native code that may wait without end for a service or a person, so the
 * caller can kill this process.
 */
const request = JSON.parse(readFileSync(0, 'utf8')) as KeyringRequest;
writeFileSync(1, JSON.stringify(await answer(request)));

/** Does the action; an error becomes an answer with its message. */
async function answer({
  action,
  service,
  account,
  secret,
}: KeyringRequest): Promise<KeyringAnswer> {
  try {
    // Prevents the fallback to the kernel's keyring, which is lost at a restart.
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
