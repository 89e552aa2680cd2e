import type { Random } from '../support/random.ts';

/** Numbers at which readers tend to go wrong, in the widths in which files hold them. */
const EDGES: readonly Buffer[] = [
  0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff,
].flatMap((number) => {
  const wide = Buffer.alloc(8);
  wide.writeUInt32BE(number);
  wide.writeUInt32LE(number, 4);
  return [wide.subarray(0, 4), wide.subarray(4), wide.subarray(2, 4), wide.subarray(4, 6)];
});

const MAX_CHANGES = 6;
const MAX_PIECE = 64;

/** As long as it takes to tell a reader that goes back from one that does not. */
export const STRETCHED_BYTES = 65_536;

/** An input in which a piece is repeated until it is long. */
export function stretched(input: Buffer, words: readonly Buffer[], random: Random): Buffer {
  const at = random.between(0, input.length);
  const end = at + random.between(1, 12);
  const piece =
    words.length > 0 && random.chance(0.3) ? random.pick(words) : input.subarray(at, end);
  const times = Math.floor((STRETCHED_BYTES - input.length) / Math.max(1, piece.length));
  const rest = random.chance(0.5) ? input.subarray(end) : Buffer.alloc(0);
  return Buffer.concat([
    input.subarray(0, at),
    ...Array.from({ length: Math.max(0, times) }, () => piece),
    rest,
  ]);
}

/**
 * An input made of another: some bytes are changed, taken out, repeated, or come from a third, or
 * from the format's words.
 */
export function mutated(
  input: Buffer,
  otherInputs: readonly Buffer[],
  words: readonly Buffer[],
  random: Random,
  maxBytes: number,
): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let left = random.between(1, MAX_CHANGES); left > 0; left -= 1)
    bytes = changed(bytes, otherInputs, words, random);
  return bytes.subarray(0, maxBytes);
}

function changed(
  bytes: Buffer,
  otherInputs: readonly Buffer[],
  words: readonly Buffer[],
  random: Random,
): Buffer {
  const at = random.between(0, bytes.length);
  const length = Math.min(
    bytes.length - at,
    random.between(1, random.chance(0.2) ? Math.max(1, bytes.length) : MAX_PIECE),
  );
  const put = (piece: Buffer, instead = 0): Buffer =>
    Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + instead)]);
  switch (random.between(0, 9)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.between(0, 7));
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = random.between(0, 255);
      return bytes;
    case 2:
      return put(Buffer.alloc(0), length);
    case 3:
      return put(
        Buffer.concat(
          Array.from({ length: random.between(1, 4) }, () => bytes.subarray(at, at + length)),
        ),
      );
    case 4:
    case 5:
      return words.length === 0 ? bytes : put(random.pick(words), random.chance(0.5) ? length : 0);
    case 6: {
      const edge = random.pick(EDGES);
      return put(edge, edge.length);
    }
    case 7: {
      const other = random.pick(otherInputs);
      const from = random.between(0, other.length);
      return put(
        other.subarray(from, from + random.between(1, MAX_PIECE)),
        random.chance(0.5) ? length : 0,
      );
    }
    case 8: {
      // The beginning of one and the end of another.
      const other = random.pick(otherInputs);
      return Buffer.concat([
        bytes.subarray(0, at),
        other.subarray(random.between(0, other.length)),
      ]);
    }
    default: {
      const from = random.between(0, bytes.length);
      return put(Buffer.from(bytes.subarray(from, from + length)), length);
    }
  }
}
