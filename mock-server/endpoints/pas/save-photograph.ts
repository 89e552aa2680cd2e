import { extname } from 'node:path';
import { FILE_BASE } from '../../base/addresses.ts';
import type { Say } from '../../base/messages.ts';
import { makeRefusal } from '../../rules/refusal.ts';
import type { Mock } from '../../state/mock.ts';
import { orderChildren } from '../../state/records/child-order.ts';
import { makeHistoryEntry } from '../../state/records/history.ts';
import {
  type ArchiveRecord,
  type Body,
  getChild,
  getList,
  getText,
} from '../../state/records/record.ts';

const LAST_NUMBER = 99;
/** Form of a generated name; other names are refused. */
const ALLOWED_NAME = /^[A-Za-z0-9]{1,80}F\d{2}(\.[A-Za-z0-9]{1,10})?$/;

/**
 * Makes a file name: identifier without hyphens, `F`, the number after the highest, and the
 * uploaded extension (A-FILE-1).
 * @throws HttpError 422 when the numbers are used up or the name is not allowed
 */
export function makeNextPhotographName(
  mock: Mock,
  ident: string,
  uploadedName: string,
  say: Say,
): string {
  const find = mock.archive.findLive('samostatny_nalez', ident);
  const numbers = getList(find?.body['soubor']).map((file) =>
    Number(/F(\d{2})(?:\.[^.]*)?$/.exec(getText(getChild(file)?.['nazev']) ?? '')?.[1] ?? 0),
  );
  const next = Math.max(0, ...numbers) + 1;
  if (next > LAST_NUMBER) throw makeRefusal(422, say('photo-names', ident));
  const name = `${ident.replaceAll('-', '')}F${String(next).padStart(2, '0')}${extname(uploadedName)}`;
  if (!ALLOWED_NAME.test(name)) throw makeRefusal(422, say('photo-name', name));
  return name;
}

type NewPhotograph = {
  readonly find: string;
  readonly uuid: string;
  readonly name: string;
  readonly originalName: string;
  readonly mimetype: string;
  readonly pages: number;
  readonly sizeBytes: number;
  /** Digest of the stored bytes, in lower-case hexadecimal. */
  readonly sha512: string;
  readonly user: string;
};

/** Adds `soubor` to the find, and the rearchiving event to an archived one. */
export function savePhotograph(mock: Mock, photograph: NewPhotograph): ArchiveRecord {
  return mock.database.transaction(() => {
    const find = mock.archive.findLive('samostatny_nalez', photograph.find);
    if (find === undefined) throw new Error(`the find ${photograph.find} vanished under its lock`);
    const { uuid, mimetype, sizeBytes } = photograph;
    mock.photographs.record({ uuid, find: photograph.find, mimetype, size_bytes: sizeBytes });
    const atMs = mock.clock.now();
    const files = [...getList(find.body['soubor']), makeFileElement(mock, photograph, atMs)].sort(
      compareNames,
    );
    const rearchived =
      find.stav === 4 ? [makeHistoryEntry(mock.counters, 'SN34', photograph.user, atMs)] : [];
    const historie = [...getList(find.body['historie']), ...rearchived];
    return mock.archive.put({
      entity: 'samostatny_nalez',
      body: orderChildren('samostatny_nalez', { ...find.body, historie, soubor: files }),
    });
  })();
}

function makeFileElement(mock: Mock, photograph: NewPhotograph, atMs: number): Body {
  const { find, uuid } = photograph;
  return {
    id: mock.counters.takeNext('soub'),
    path: `rest/pas-mock/record/${find}/file/${uuid}`,
    nazev: photograph.name,
    mimetype: photograph.mimetype,
    rozsah: String(photograph.pages),
    size_mb: (photograph.sizeBytes / 1_048_576).toFixed(10),
    sha_512: photograph.sha512,
    url: `${FILE_BASE}/${find}/file/${uuid}`,
    historie: [
      makeHistoryEntry(mock.counters, 'SBR0', photograph.user, atMs, photograph.originalName),
    ],
  };
}

function compareNames(a: string | Body, b: string | Body): number {
  const [first, second] = [a, b].map((file) => getText(getChild(file)?.['nazev']) ?? '');
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
