import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { seededRandom } from '../support/random.ts';

type Work = (...args: unknown[]) => unknown;
type Callback = (failed: unknown, ...results: unknown[]) => void;

/**
 * From here on the files of this process answer at once. Node would ask threads, which answer in an
 * order of their own and let everybody wait: a scenario is to be the same on any machine, and its
 * disk is memory.
 */
export function answerAtOnce(): void {
  const functions = fs as unknown as Record<string, Work>;
  const promised = fs.promises as unknown as Record<string, Work>;
  const atOnce = Object.keys(functions).flatMap((name) =>
    name !== 'exists' && typeof functions[`${name}Sync`] === 'function' ? [name] : [],
  );
  for (const name of atOnce) {
    const work = functions[`${name}Sync`] as Work;
    functions[name] = (...args) => calledBack(args, work, BESIDE[name]);
    if (promised[name] !== undefined) promised[name] = async (...args) => work(...args);
  }
  promised['open'] = async (...args) =>
    new OpenFile((functions['openSync'] as Work)(...args) as number);
  syncBuiltinESMExports();
}

/** Facts of these calls beside the number of bytes. */
const BESIDE: Readonly<Record<string, number>> = { read: 1, readv: 1, write: 1, writev: 1 };

function calledBack(args: unknown[], work: Work, beside: number | undefined): void {
  const callback = args.pop() as Callback;
  try {
    const result = work(...args);
    process.nextTick(callback, null, result, ...(beside === undefined ? [] : [args[beside]]));
  } catch (failed) {
    process.nextTick(callback, failed);
  }
}

/** The part of {@link fs.promises.FileHandle} that is used. */
class OpenFile {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  async stat(): Promise<fs.Stats> {
    return fs.fstatSync(this.fd);
  }

  async read(
    buffer: Buffer,
    ...where: number[]
  ): Promise<{ readonly bytesRead: number; readonly buffer: Buffer }> {
    const [offset = 0, length = buffer.length - offset, position = null] = where;
    return { bytesRead: fs.readSync(this.fd, buffer, offset, length, position), buffer };
  }

  async readFile(): Promise<Buffer> {
    return fs.readFileSync(this.fd);
  }

  async writeFile(content: string | Buffer): Promise<void> {
    fs.writeFileSync(this.fd, content);
  }

  async write(
    bytes: Buffer,
    offset?: number,
    length?: number,
    position?: number,
  ): Promise<{ readonly bytesWritten: number }> {
    return { bytesWritten: fs.writeSync(this.fd, bytes, offset, length, position) };
  }

  async truncate(lengthBytes = 0): Promise<void> {
    fs.ftruncateSync(this.fd, lengthBytes);
  }

  async sync(): Promise<void> {
    fs.fsyncSync(this.fd);
  }

  async datasync(): Promise<void> {
    fs.fdatasyncSync(this.fd);
  }

  async close(): Promise<void> {
    fs.closeSync(this.fd);
  }

  createReadStream(): Readable {
    return Readable.from([fs.readFileSync(this.fd)]);
  }
}

/**
 * From here on identifiers are drawn from this: of two events of one place the identifier decides
 * which comes first, and a scenario is to be the same each time.
 * @returns begins the drawing again
 */
export function drawUuids(): (seed: number) => void {
  let random = seededRandom(0);
  const functions = crypto as unknown as { randomUUID: () => string };
  functions.randomUUID = () => {
    const digits = Array.from({ length: 32 }, () => random.between(0, 15).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  };
  syncBuiltinESMExports();
  return (seed) => {
    random = seededRandom(seed);
  };
}
