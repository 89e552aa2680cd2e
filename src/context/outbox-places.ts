import { join } from 'node:path';
import { ConfigError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { isContainer, type System } from '../outbox/machine-id.ts';
import type { Places } from './places.ts';

/** The files of one outbox. */
export type OutboxPlaces = { readonly folder: string; readonly outboxFile: string; readonly photosFolder: string };

/** `state`: one journal for all outboxes of the machine, outside the data home. `beside`: one in the folder of each outbox. */
export const JOURNAL_LAYOUTS = ['state', 'beside'] as const;
export type JournalLayout = (typeof JOURNAL_LAYOUTS)[number];

/** Journal of an outbox, and the folder of its lock. */
export type JournalPlaces = { readonly journalFile: string; readonly locksFolder: string; readonly layout: JournalLayout };

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Tells if a text from a file is safe as a folder name. */
export function isOutboxId(text: string): boolean {
  return UUID.test(text);
}

/** @throws ConfigError where the identifier is no UUID */
export function outboxPlaces({ outboxesFolder }: Pick<Places, 'outboxesFolder'>, id: string): OutboxPlaces {
  if (!isOutboxId(id))
    throw new ConfigError(msg`"${id}" cannot be the identifier of an outbox: it must be a UUID in small letters.`);
  return filesIn(join(outboxesFolder, id));
}

function filesIn(folder: string): OutboxPlaces {
  return { folder, outboxFile: join(folder, 'outbox.sqlite'), photosFolder: join(folder, 'photos') };
}

/** Returns the layout of config.toml, else the default: a container may lose its state folder at any time. */
export function journalLayout(configured: JournalLayout | undefined, system: System): JournalLayout {
  return configured ?? (isContainer(system) ? 'beside' : 'state');
}

/** @param outboxFolder folder of the outbox */
export function journalPlaces(
  { journalFile, locksFolder }: Pick<Places, 'journalFile' | 'locksFolder'>,
  layout: JournalLayout,
  outboxFolder: string,
): JournalPlaces {
  switch (layout) {
    case 'state':
      return { journalFile, locksFolder, layout };
    case 'beside':
      return { journalFile: join(outboxFolder, 'journal.sqlite'), locksFolder: outboxFolder, layout };
  }
}
