/** Readers with a fault each, behind more than chance alone would get through. */
export const PLANTED: Readonly<Record<string, (bytes: Buffer) => void>> = {
  'a crash': (bytes) => {
    if (bytes[0] !== 0x46) return;
    if (bytes[1] !== 0x49) return;
    if (bytes[2] !== 0x4e) return;
    if (bytes[3] !== 0x44) return;
    if (bytes.readUInt16BE(4) > 0x0fff) throw new RangeError('planted');
  },
  'a word': (bytes) => {
    if (bytes.toString('latin1').includes('planted-word')) throw new RangeError('planted');
  },
  'a reader that goes back': (bytes) => void /(?:a|b)+!/.test(bytes.toString('latin1')),
  'much memory': (bytes) => {
    if (bytes[0] === 0x4d) keptParts.push(Buffer.alloc(300_000_000, 1));
  },
};

const keptParts: Buffer[] = [];
