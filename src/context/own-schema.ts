import { join } from 'node:path';
import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type DocumentProfile, schemaLocationOf } from '../find/find.ts';
import type { ReadOwnSchema } from '../find/find-schema.ts';
import { readKept } from '../store/kept-files.ts';
import type { Profile } from './config.ts';
import type { Context } from './context.ts';

export function documentProfileOf({ prefix, schemaBase, schemaVersion }: Profile): DocumentProfile {
  return { prefix, schemaBase, schemaVersion };
}

/** Returns the folder of the deployment's own schema, named after its address. */
export function ownSchemaFolder({ places }: Context, profile: DocumentProfile): string {
  const { host, pathname } = new URL(schemaLocationOf(profile));
  const parts = [host, ...pathname.replace(/\.xsd$/, '').split('/')].filter((part) => part !== '');
  return join(places.schemasFolder, ...parts.map((part) => part.replace(/[^\w.-]/g, '_').replace(/^\.+$/, '_')));
}

/** Reads the deployment's own schema as last fetched. A damaged one is not used, with a warning. */
export function ownSchemaReader(context: Context): ReadOwnSchema {
  return async (profile) => {
    try {
      return readKept(ownSchemaFolder(context, profile));
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      const hint = thrown.hint ?? '';
      context.terminal.warn(t`${thrown.message} The bundled schema is used. ${hint}`);
      return undefined;
    }
  };
}
