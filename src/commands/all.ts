import type { Command } from 'commander';
import { register as build } from './build.ts';
import type { Runner } from './command.ts';
import { register as demo } from './demo.ts';
import { register as harvestVocab } from './harvest-vocab.ts';
import { register as importFinds } from './import.ts';
import { register as init } from './init.ts';
import { register as list } from './list.ts';
import { register as login } from './login.ts';
import { register as mockServer } from './mock-server.ts';
import { register as number } from './number.ts';
import { register as photo } from './photo.ts';
import { register as profile } from './profile.ts';
import { register as push } from './push.ts';
import { register as reconcile } from './reconcile.ts';
import { register as resolve } from './resolve.ts';
import { register as show } from './show.ts';
import { register as status } from './status.ts';
import { register as validate } from './validate.ts';
import { register as vocab } from './vocab.ts';

/** Every command, in the order in which `pas --help` shows them. */
export function registerCommands(program: Command, run: Runner): void {
  const commands = [
    demo,
    init,
    profile,
    login,
    harvestVocab,
    vocab,
    importFinds,
    photo,
    number,
    list,
    show,
    validate,
    build,
    push,
    status,
    reconcile,
    resolve,
    mockServer,
  ];
  for (const register of commands) register(program, run);
}
