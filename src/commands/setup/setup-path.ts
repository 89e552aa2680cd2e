import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import {
  archiveFolder,
  changeUserPath,
  linkPlace,
  linkPrograms,
  unlinkPrograms,
} from '../../flows/system/search-path.ts';
import { defineCommand, type Runner } from '../command.ts';

type SetupPathOptions = GlobalOptions & { readonly remove?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'setup-path',
    summary: t`Add this pas to your shell's PATH, for you only and without admin rights.`,
    examples: ['pas setup-path', 'pas setup-path --remove'],
  })
    .option('--remove', t`remove it from PATH again`)
    .action((options: SetupPathOptions) =>
      run(options, async (context) =>
        (process.platform === 'win32' ? changeRegistry : changeLinks)(
          context,
          options.remove === true,
        ),
      ),
    );
}

function changeRegistry({ terminal }: Context, remove: boolean): ExitReason {
  const folder = archiveFolder();
  const wasThere = changeUserPath(folder, remove ? 'gone' : 'there');
  if (remove)
    terminal.printLine(
      wasThere ? t`${folder} is no longer on your PATH.` : t`${folder} was not on your PATH.`,
    );
  else
    terminal.printLine(
      wasThere
        ? t`${folder} is already on your PATH.`
        : t`${folder} is now on your PATH. Open a new terminal.`,
    );
  terminal.printValue({ folder, on_path: !remove, changed: wasThere === remove });
  return 'done';
}

function changeLinks({ terminal, environment }: Context, remove: boolean): ExitReason {
  const place = linkPlace(environment);
  if (remove) {
    const changed = unlinkPrograms(place);
    terminal.printLine(
      changed
        ? t`The links in ${place.folder} are removed.`
        : t`There are no links of pas in ${place.folder}.`,
    );
    terminal.printValue({ folder: place.folder, on_path: false, changed });
    return 'done';
  }
  const { folder, isOnPath } = linkPrograms(place, environment['PATH'] ?? '');
  terminal.printLine(t`pas and pas-mock-server are in ${folder}.`);
  if (!isOnPath)
    terminal.note(
      t`This folder is not on your PATH yet. Add this line to ~/.profile (zsh: ~/.zprofile): export PATH="$HOME/.local/bin:$PATH"`,
    );
  terminal.printValue({ folder, on_path: isOnPath, changed: true });
  return 'done';
}
