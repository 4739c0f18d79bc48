import type { Festival } from './festival.ts'

/** A small neighbourhood party that tries Tally out (status Trial): two stalls, supper late. */
export const verbenaDelOlivar: Festival = {
  organizationId: 'e47c2d98-15fa-4b03-a6d9-3b9f08c65e04',
  organizationName: 'Asociación de Vecinos El Olivar',
  organizationStatus: 'Trial',
  eventName: 'Verbena del Olivar',
  timeZone: 'Atlantic/Canary',
  weight: 10,
  opens: '19:00',
  lastOrders: '24:30',
  peaks: [
    { at: '20:15', spreadMinutes: 30, weight: 24 },
    { at: '22:10', spreadMinutes: 42, weight: 66 },
  ],
  areas: [
    {
      areaId: 1,
      name: 'Cocina',
      letter: 'K',
      weight: 55,
      tables: 30,
      service: { kind: 'cooked', minutes: 11 },
    },
    { areaId: 2, name: 'Barra', letter: 'B', weight: 45, tables: 0, service: { kind: 'counter' } },
  ],
  menu: [
    {
      name: 'Tapas',
      soldAt: [1],
      dishes: [
        ['Papas arrugadas con mojo', 450, 18],
        ['Croquetas de jamón', 600, 14],
        ['Queso asado con mojo', 650, 9],
        ['Tortilla de patatas', 500, 12],
        ['Pimientos de padrón', 550, 8],
        ['Ensaladilla', 500, 7],
      ],
    },
    {
      name: 'Platos',
      soldAt: [1],
      dishes: [
        ['Bocadillo de pata', 550, 14],
        ['Pinchos morunos', 700, 13],
        ['Pulpo a la gallega', 1350, 7],
        ['Carne fiesta', 850, 10],
        ['Paella', 950, 9],
        ['Calamares a la romana', 900, 8],
      ],
    },
    {
      name: 'Bebidas',
      soldAt: [1, 2],
      dishes: [
        ['Caña', 200, 26],
        ['Cerveza sin alcohol', 220, 4],
        ['Clara con limón', 220, 8],
        ['Tinto de verano', 300, 14],
        ['Vino blanco del país, copa', 280, 6],
        ['Sangría, jarra', 1200, 4],
        ['Agua', 120, 16],
        ['Refresco', 220, 15],
      ],
    },
    {
      name: 'Postres y café',
      soldAt: [2],
      dishes: [
        ['Churros con chocolate', 450, 12],
        ['Quesillo', 350, 7],
        ['Helado', 300, 8],
        ['Café cortado', 140, 10],
        ['Barraquito', 250, 8],
        ['Ron miel, chupito', 200, 9],
      ],
    },
  ],
  paymentMethods: [
    { name: 'Efectivo', weight: 71, isCash: true },
    { name: 'Tarjeta', weight: 21, isCash: false },
    { name: 'Bizum', weight: 8, isCash: false },
  ],
  coverChargeCents: 0,
  preOrders: 0.02,
  takeaway: 0.25,
  discounts: [
    { percent: 0, weight: 97 },
    { percent: 20, weight: 3 },
  ],
  deposit: {
    name: 'Vaso reutilizable',
    categoryName: 'Vasos',
    cents: 100,
    cupOf: ['Caña', 'Clara con limón', 'Tinto de verano', 'Refresco'],
    isReturnedBy: 'quantity',
  },
  voucher: null,
  notes: ['sin mojo', 'muy hecho', 'sin gluten', 'para compartir', 'sin hielo'],
}
