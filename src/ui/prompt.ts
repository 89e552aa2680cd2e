import inquirer from 'inquirer';

/** Questions on the terminal. They are written to stderr, so that a redirected stdout holds results alone. */
export type Prompt = {
  ask(question: string, fallback?: string): Promise<string>;
  askSecret(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
};

export function makePrompt(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Prompt {
  const prompt = inquirer.createPromptModule({ input, output });
  return {
    async ask(question, fallback) {
      const { answer } = await prompt([
        { type: 'input', name: 'answer', message: question, ...(fallback === undefined ? {} : { default: fallback }) },
      ]);
      return String(answer);
    },
    async askSecret(question) {
      const { answer } = await prompt([{ type: 'password', name: 'answer', message: question }]);
      return String(answer);
    },
    async confirm(question) {
      const { answer } = await prompt([{ type: 'confirm', name: 'answer', message: question, default: false }]);
      return answer === true;
    },
  };
}
