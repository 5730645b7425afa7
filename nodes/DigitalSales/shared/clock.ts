import { sleep } from 'n8n-workflow';

/** In milliseconds. Tests replace it. */
export const clock = {
	now: (): number => Date.now(),
	/** Since this process started. Does not jump when somebody sets the clock. */
	elapsed: (): number => Math.floor(performance.now()),
	sleep: async (milliseconds: number): Promise<void> => await sleep(milliseconds),
	random: (): number => Math.random(),
};

/** For a person, in the time of the platform's dashboard: `26/11/2026, 21:47 (Brasília time)`. */
export function formatTime(milliseconds: number): string {
	return `${inBrasilia(milliseconds, { dateStyle: 'short', timeStyle: 'short' })} (Brasília time)`;
}

/** The day in Brasília: `26/11/2026`. */
export function formatDay(milliseconds: number): string {
	return inBrasilia(milliseconds, { dateStyle: 'short' });
}

function inBrasilia(milliseconds: number, style: Intl.DateTimeFormatOptions): string {
	const options = { ...style, timeZone: 'America/Sao_Paulo' };
	return new Intl.DateTimeFormat('pt-BR', options).format(milliseconds);
}
