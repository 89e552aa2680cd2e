import { crc32, deflateRawSync } from 'node:zlib';

export type ZipPart = {
  readonly name: string;
  readonly content: string | Buffer;
  readonly flags?: number;
  readonly claimedBytes?: number;
  /** As Unix keeps it: `0o120777` is a symbolic link. */
  readonly mode?: number;
};

/** A ZIP archive written by hand, so that its directory can say what is not true. */
export function makeZip(parts: readonly ZipPart[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, flags = 0, claimedBytes, mode = 0 } of parts) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claimedBytes ?? bytes.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([
      Buffer.from('PK\u0003\u0004', 'latin1'),
      common,
      Buffer.from(name),
      packed,
    ]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(mode * 0x10000, 6);
    tail.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([
        Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'),
        common,
        tail,
        Buffer.from(name),
      ]),
    );
    locals.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, entries, end]);
}
