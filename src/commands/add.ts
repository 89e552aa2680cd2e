import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import type { AddOptions } from './adding.ts';
import { collect, defineCommand, type Runner } from './command.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'add',
    summary: t`Enter one find: asks on a terminal, or takes everything from --set.`,
    examples: [
      'pas add',
      'pas add --same-as K-017 --point-from IMG_0412.jpg',
      'pas add --set project=C-202400101 --set object_type=brooch --set depth_cm=35 --point "50.0871N 14.4208E"',
    ],
  })
    .option('--set <element=value>', t`say an element, by the names that columns of tables have; may be repeated`, collect)
    .option('--same-as <find>', t`copy another find, but for its numbers, point, depth, count and note`)
    .option('--point <position>', t`the point: degrees, degrees with minutes and seconds, or S-JTSK`)
    .option('--point-from <photo>', t`the point where this photograph was taken`)
    .option('--photo <file...>', t`queue photographs with the find`)
    .option('--link', t`keep a reference to the photographs instead of a copy`)
    .option('--strip-gps', t`take the place (GPS) out of what is queued; the files themselves stay as they are`)
    .option('--draft', t`keep the find as a draft, however complete`)
    .option('--resume [find]', t`go on with an unfinished find, the last one unless named`)
    .action((options: AddOptions) => run(options, (context) => add(context, options)));
}

async function add(context: Context, options: AddOptions): Promise<ExitReason> {
  const { openAdding } = await import('./adding.ts');
  const adding = await openAdding(context, options);
  const says = options.set !== undefined || options.sameAs !== undefined;
  if (options.set === undefined && context.terminal.interactive) {
    const { addByAsking } = await import('./add-asking.ts');
    return addByAsking(adding, options);
  }
  if (!says && options.resume === undefined) {
    throw new UsageError(t`There is no terminal to ask on.`, {
      hint: t`Say the find with --set element=value, or import a table: pas import FILE.`,
    });
  }
  const { addFromFlags } = await import('./add-from-flags.ts');
  return addFromFlags(adding, options);
}
