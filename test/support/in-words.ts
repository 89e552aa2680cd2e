import { readCatalog } from '../../src/base/message.ts';

/** The value as programs are given it, with its messages in words. */
export function inWords<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Pieces of our texts between their values that no other language has. */
export function piecesOfTexts(): {
  readonly en: readonly string[];
  readonly cs: readonly string[];
} {
  const czech = readCatalog('cs');
  return { en: listPieces(Object.keys(czech)), cs: listPieces(Object.values(czech).flat()) };
}

function listPieces(texts: readonly string[]): string[] {
  const pieces = texts.flatMap((text) => text.split(/\$\{\d+\}/)).map((piece) => piece.trim());
  return [...new Set(pieces)].filter((piece) => /\p{L}+ \p{L}+ \p{L}+/u.test(piece));
}
