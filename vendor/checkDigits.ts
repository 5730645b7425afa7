/** Names a library that is not at hand where the package runs; see qrCode.ts. */
export { cnpj, cpf } from 'cpf-cnpj-validator';
