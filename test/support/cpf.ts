/** Made up of nine digits: the last two are what makes a CPF of the others. */
export function cpf(number: number): string {
	const digits = [...String(number)].map(Number);
	while (digits.length < 11) {
		const weighed = digits.map((digit, index) => digit * (digits.length + 1 - index));
		digits.push(((weighed.reduce((sum, one) => sum + one, 0) * 10) % 11) % 10);
	}
	return digits.join('').replace(/^(\d{3})(\d{3})(\d{3})/, '$1.$2.$3-');
}
